// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

/** The file of {@code /usr/bin} that starts a program: no shell stays. */
final class Launcher {

    private Launcher() {}

    static String script(Image image, Image.Program program, Jars jars, boolean hasCache) {
        return """
        #!/usr/bin/bash
        # %s. SIGUSR2 is the program's: the JVM takes another signal to stop threads. JAVA_OPTS may hold more options of the JVM; with some, it starts without its AOT cache, and slower.
        _JAVA_SR_SIGNUM=16 exec %s/bin/java %s \\
          %s \\
          $JAVA_OPTS \\
          -cp %s \\
          %s "$@"
        """.formatted(
                        image.description(),
                        Image.JDK,
                        hasCache ? "-XX:AOTCache=" + image.cache() : "",
                        String.join(" ", image.jvmOptions()),
                        jars.classPath(Image.JARS),
                        program.main());
    }
}
