// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaProgramTest {

    @TempDir
    private Path folder;

    /** Prints a property, and its arguments. */
    public static void main(String[] args) {
        System.out.println(System.getProperty("words") + List.of(args));
    }

    @Test
    void aScriptKeepsTheWordsOfItsCommand() throws Exception {
        List<String> options = List.of("-Dwords=a folder's $HOME");
        Path script = folder.resolve("program");

        new JavaProgram(folder, options, JavaProgram.ownClassPath(), JavaProgramTest.class.getName())
                .writeScript(script);

        assertThat(Ended.of(Map.of(), List.of(script.toString()), "b c").printed())
                .isEqualTo("a folder's $HOME[b c]\n");
    }
}
