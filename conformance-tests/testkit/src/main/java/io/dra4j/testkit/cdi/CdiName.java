// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cdi;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The grammar of CDI's names: {@code vendor/class=device}.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/tree/main/pkg/parser">the
 *     parser of the CDI library</a>
 */
public final class CdiName {

    private static final Pattern VENDOR_OR_CLASS = Pattern.compile("[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?");
    private static final Pattern DEVICE = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?");

    private CdiName() {}

    /** Returns the problem of a qualified name; empty if it is valid. */
    public static Optional<String> problem(String id) {
        int equals = id.indexOf('=');
        if (equals < 0) {
            return Optional.of("is not vendor/class=name: it has no \"=\"");
        }
        return problemOfKind(id.substring(0, equals)).or(() -> problemOfDevice(id.substring(equals + 1)));
    }

    /** Returns the problem of a kind, {@code vendor/class}. */
    static Optional<String> problemOfKind(String kind) {
        int slash = kind.indexOf('/');
        if (slash < 0) {
            return Optional.of("has no class: vendor and class are written vendor/class");
        }
        return problem("vendor", kind.substring(0, slash), VENDOR_OR_CLASS)
                .or(() -> problem("class", kind.substring(slash + 1), VENDOR_OR_CLASS));
    }

    static Optional<String> problemOfDevice(String name) {
        return problem("name", name, DEVICE);
    }

    private static Optional<String> problem(String part, String text, Pattern grammar) {
        return grammar.matcher(text).matches()
                ? Optional.empty()
                : Optional.of("has a %s that CDI's grammar forbids: \"%s\"".formatted(part, text));
    }
}
