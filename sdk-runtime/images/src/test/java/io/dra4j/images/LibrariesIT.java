// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.images.Container.Ended;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The libraries and modules that code of an image needs are in it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class LibrariesIT {

    /** The JVM is there before other libraries of the JDK name it. */
    private static final Map<String, String> JVM = Map.of("LD_LIBRARY_PATH", Image.JDK + "/lib/server");

    private static final String LIST = """
            loader=$0
            for file; do
                "$loader" --list "$file" || echo "of $file: not found"
            done
            """;

    @TempDir
    private Path folder;

    static List<Image> images() {
        return Image.IMAGES;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("images")
    void areFoundByTheLoader(Image image) throws Exception {
        Built.assumeContainers();
        Container container = Container.unpack(Built.archive(image), folder);
        List<String> command =
                new ArrayList<>(List.of("bash", "-c", LIST, Machine.current().loader()));
        List<Path> files = Elf.files(folder).stream()
                .filter(file -> !file.endsWith("usr/bin/busybox")) // static
                .toList();
        files.forEach(file -> command.add("/" + folder.relativize(file)));

        Ended ended = container.run(JVM, command.toArray(String[]::new));

        assertThat(files).hasSizeGreaterThan(20);
        assertThat(ended.output())
                .contains("libtinfo.so.6 => /usr/lib", "libjvm.so => " + Image.JDK)
                .doesNotContain("not found", "error");
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("images")
    void areModulesOfItsJdk(Image image) throws Exception {
        Inputs inputs = Built.inputs(folder);
        Jdk jdk = Jdk.find(inputs.jdk(), System.getenv());
        List<String> jdeps = new ArrayList<>(List.of(
                jdk.home().resolve("bin/jdeps").toString(),
                "--multi-release=" + Jdk.RELEASE,
                "--ignore-missing-deps",
                "--print-module-deps"));
        Jars.of(inputs, image).ours().forEach(jar -> jdeps.add(jar.toString()));

        String modules = Tool.output(jdeps);

        assertThat(Jdk.MODULES).containsAll(List.of(modules.split(",")));
    }

    @Test
    void includeAJdkWithNoModuleBesideThem() throws Exception {
        Built.assumeContainers();
        Container container = Container.unpack(Built.archive(Image.FAKE_DRIVER), folder);

        Ended ended = container.run(Map.of(), Image.JDK + "/bin/java", "--list-modules");

        TreeSet<String> names = new TreeSet<>();
        ended.output().lines().forEach(line -> names.add(line.replaceFirst("@.*", "")));
        assertThat(names)
                .containsAll(Jdk.MODULES)
                .contains("java.security.sasl")
                .hasSize(10);
    }
}
