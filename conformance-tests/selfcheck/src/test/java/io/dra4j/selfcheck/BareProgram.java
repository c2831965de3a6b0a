// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * The command that starts the driver as a process, with its classes as the JVM likes them best: it
 * is started hundreds of times.
 *
 * <p>The archive is made by the first who asks, from a driver that has prepared a claim, and stays
 * in {@code target} for as long as the classes are the same.
 */
public final class BareProgram {

    /** The stubs, and what a driver that speaks protobuf reads and writes with. */
    private static final String KIT = "io/dra4j/testkit";

    private static final Path FOLDER = Path.of("target/bare-driver");
    private static final List<String> OPTIONS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m");
    private static BareProgram only; // guarded by the class

    private final String classPath;
    private final Path archive;

    private BareProgram(String classPath) {
        this.classPath = classPath;
        archive =
                FOLDER.resolve(hash(classPath + System.getProperty("java.vm.version")) + ".jsa")
                        .toAbsolutePath();
    }

    /** The command of the driver without its own options. */
    public static synchronized List<String> command() throws IOException, InterruptedException {
        if (only == null) {
            Files.createDirectories(FOLDER);
            BareProgram made = new BareProgram(String.join(File.pathSeparator, entries()));
            if (!Files.exists(made.archive)) {
                made.make();
            }
            only = made;
        }
        return only.java(
                List.of(
                        "-XX:SharedArchiveFile=" + only.archive,
                        "-Xlog:cds=off",
                        "-Xlog:cds+dynamic=off"));
    }

    private List<String> java(List<String> more) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(OPTIONS);
        command.addAll(more);
        command.addAll(List.of("-cp", classPath, BareDriverMain.class.getName()));
        return command;
    }

    private void make() throws IOException, InterruptedException {
        Path made = archive.resolveSibling(UUID.randomUUID() + ".tmp");
        try (BareContext context =
                new BareContext(java(List.of("-XX:ArchiveClassesAtExit=" + made)))) {
            context.start();
            context.awaitRegistered();
            var claim = context.allocate("claim", "gpu-0");
            context.kubelet.prepare(BareContext.DRIVER, List.of(claim));
            context.kubelet.unprepare(BareContext.DRIVER, List.of(claim));
            context.awaitSlices(1);
            context.terminate();
        }
        if (Files.exists(made)) {
            removeOthers();
            Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static void removeOthers() throws IOException {
        try (DirectoryStream<Path> archives = Files.newDirectoryStream(FOLDER, "*.jsa")) {
            for (Path old : archives) {
                Files.deleteIfExists(old);
            }
        }
    }

    /**
     * The mutants' own classes, the test kit and what the stubs stand on: nothing of the suite, and
     * no test library.
     */
    private static List<String> entries() throws IOException {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(entry);
            if (Files.isDirectory(path.resolve("io/dra4j/selfcheck"))) {
                entries.add(jar(path, path.resolve("io/dra4j/selfcheck")));
            } else if (Files.isDirectory(path.resolve(KIT))) {
                entries.add(jar(path, path.resolve(KIT)));
            } else if (path.toString()
                    .matches(
                            ".*/(grpc-|netty-|protobuf-|client-java-proto-|jackson-|snakeyaml-|guava|failureaccess|perfmark|annotations|dra4j-testkit-).*\\.jar")) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private static String jar(Path root, Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        StringBuilder content = new StringBuilder();
        for (Path file : files) {
            content.append(file).append(Arrays.hashCode(Files.readAllBytes(file)));
        }
        Path jar = FOLDER.resolve(hash(content.toString()) + ".jar").toAbsolutePath();
        if (!Files.exists(jar)) {
            Path made = jar.resolveSibling(UUID.randomUUID() + ".tmp");
            try (OutputStream out = Files.newOutputStream(made);
                    JarOutputStream entries = new JarOutputStream(out)) {
                for (Path file : files) {
                    entries.putNextEntry(new ZipEntry(root.relativize(file).toString()));
                    Files.copy(file, entries);
                }
            }
            Files.move(made, jar, StandardCopyOption.ATOMIC_MOVE);
        }
        return jar.toString();
    }

    private static String hash(String text) {
        return UUID.nameUUIDFromBytes(text.getBytes(StandardCharsets.UTF_8)).toString();
    }
}
