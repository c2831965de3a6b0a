// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;

/** The JDK of the build machine, parts of which go into images. */
record Jdk(Path home, Properties release) {

    /** The release of Java in the images. */
    static final int RELEASE = 25;

    /**
     * The modules in the images. {@code jdeps} names more: java.desktop, java.sql, jdk.jfr and java.security.jgss are
     * optional for the libraries that use them (JNA's AWT, Jackson's SQL types, Netty's events, Jetty's Kerberos).
     */
    static final List<String> MODULES = List.of(
            "java.base",
            "java.logging",
            "java.management",
            "java.naming",
            "java.net.http",
            "java.xml",
            "jdk.httpserver",
            "jdk.management",
            "jdk.unsupported");

    /** Also excludes certificate authorities of this machine: a program trusts those of its cluster. */
    private static final List<String> NEEDLESS = List.of(
            "bin/jwebserver", "bin/keytool", "lib/classlist", "lib/jexec", "lib/jrt-fs.jar", "lib/security/cacerts");

    /** Finds a JDK 25: the one that is given, or JAVA_HOME_25, JAVA_HOME, or below /usr/lib/jvm, as the gate does. */
    static Jdk find(String given, Map<String, String> environment) {
        List<Path> candidates = new ArrayList<>();
        if (!given.isEmpty()) {
            candidates.add(Path.of(given).toAbsolutePath().normalize());
        } else {
            for (String name : List.of("JAVA_HOME_" + RELEASE, "JAVA_HOME")) {
                String home = environment.getOrDefault(name, "");
                if (!home.isEmpty()) {
                    candidates.add(Path.of(home));
                }
            }
            candidates.addAll(installed(Path.of("/usr/lib/jvm")));
        }
        return first(candidates);
    }

    static Jdk of(Debian debian) {
        return first(installed(debian.file("/usr/lib/jvm")));
    }

    private static Jdk first(List<Path> candidates) {
        return candidates.stream()
                .flatMap(home -> usable(home).stream())
                .findFirst()
                .orElseThrow(() -> new ImageBuildException(
                        "No JDK %d with jlink is at %s: install one, or set its home with -Dimage.jdk=DIR or JAVA_HOME_%d"
                                .formatted(RELEASE, candidates, RELEASE)));
    }

    private static Optional<Jdk> usable(Path home) {
        Properties release = Folders.properties(home.resolve("release"));
        String version = release.getProperty("JAVA_VERSION", "").replace("\"", "");
        return Files.isExecutable(home.resolve("bin/jlink")) && version.matches(RELEASE + "([.+-].*)?")
                ? Optional.of(new Jdk(home, release))
                : Optional.empty();
    }

    private static List<Path> installed(Path folder) {
        List<Path> homes = new ArrayList<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
                all.forEach(homes::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        homes.sort(null);
        return homes;
    }

    /** A value of its file {@code release}, without quotation marks. */
    String value(String key) {
        return release.getProperty(key, "").replace("\"", "");
    }

    /**
     * Links the modules of the images, and more, into a new folder.
     *
     * @param linker a JDK that runs on this machine; it links the modules of this JDK, and may be another one
     */
    void link(Path folder, List<String> more, Jdk linker) {
        List<String> modules = equals(linker) ? List.of() : List.of("--module-path=" + home.resolve("jmods"));
        List<String> command =
                new ArrayList<>(List.of(linker.home.resolve("bin/jlink").toString()));
        // Code that jlink generates checks whether a method handle needs code of its own, unless this is switched off.
        command.add("-J-Djava.lang.invoke.MethodHandle.CUSTOMIZE_THRESHOLD=-1");
        command.addAll(modules);
        command.addAll(List.of(
                "--add-modules=" + String.join(",", MODULES)
                        + more.stream().map(name -> "," + name).collect(Collectors.joining()),
                "--strip-java-debug-attributes",
                "--no-header-files",
                "--no-man-pages",
                "--output=" + folder));
        Tool.output(command);
        try {
            for (String file : NEEDLESS) {
                Files.deleteIfExists(folder.resolve(file));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
