// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import io.dra4j.charttest.PagePart;
import java.nio.file.Path;

/** A part of the page on this driver that a test renders. */
public final class ReferencePart {

    private static final Path PAGE = Path.of("../docs-site/reference/nvidia-driver.md");

    private ReferencePart() {}

    /**
     * Compares a part of the page.
     *
     * @param test the test that has the part; the page names it before and after the part
     */
    public static void assertIsOnThePage(Class<?> test, String part) {
        new PagePart(PAGE, test.getSimpleName()).assertIs(part);
    }
}
