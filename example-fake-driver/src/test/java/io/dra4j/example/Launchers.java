// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The programs of the runnable jar by the names that the community's image has for them. */
record Launchers(Path folder) {

    /** Makes a script for each program. */
    static Launchers in(Path folder) throws IOException {
        write(folder.resolve("dra-example-kubeletplugin"), FakeDriverMain.class);
        write(folder.resolve("dra-example-controller"), ControllerMain.class);
        return new Launchers(folder);
    }

    private static void write(Path script, Class<?> main) throws IOException {
        DriverJar.program(main).writeScript(script);
    }

    /** Returns a container's command with the path of its program. */
    List<String> command(List<String> words) {
        return words.stream()
                .map(word -> word.equals(words.get(0)) ? folder.resolve(word).toString() : word)
                .toList();
    }
}
