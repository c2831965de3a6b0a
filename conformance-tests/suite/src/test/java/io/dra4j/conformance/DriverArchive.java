// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;

import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.File;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * The driver's classes as the JVM likes them best: a driver starts in half the time, which counts
 * where one is started hundreds of times.
 *
 * <p>The archive is made by the first test that wants it, from a driver that has prepared a claim,
 * and stays in {@code target} for as long as the classes are the same.
 */
public final class DriverArchive {

    private static final Path FOLDER = Path.of("target/driver-archive");
    private static final List<String> OPTIONS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
    private static DriverArchive only; // guarded by the class

    private final String classPath;
    private final Path archive;

    private DriverArchive(String classPath) {
        this.classPath = classPath;
        this.archive =
                FOLDER.resolve(hash(classPath + System.getProperty("java.vm.version")) + ".jsa");
    }

    /** The one of these classes, which the first who asks makes. */
    public static synchronized DriverArchive get() throws IOException {
        if (only == null) {
            Files.createDirectories(FOLDER);
            List<String> entries = new ArrayList<>();
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
                if (!entry.isEmpty() && !entry.contains("/conformance-tests/")) {
                    entries.add(Files.isDirectory(Path.of(entry)) ? jar(Path.of(entry)) : entry);
                }
            }
            DriverArchive archive = new DriverArchive(String.join(File.pathSeparator, entries));
            if (!Files.exists(archive.archive)) {
                archive.made();
            }
            only = archive;
        }
        return only;
    }

    /** The test's class path without the suite, and with jars in the place of folders. */
    public String classPath() {
        return classPath;
    }

    /** What a driver is to be started with; one whose archive does not fit starts all the same. */
    public List<String> jvmOptions() {
        List<String> options = new ArrayList<>(OPTIONS);
        options.add("-XX:SharedArchiveFile=" + archive.toAbsolutePath());
        options.add("-Xlog:cds=off");
        options.add("-Xlog:cds+dynamic=off");
        return options;
    }

    /** The fake driver's command without its own options. */
    public List<String> command() {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions());
        command.addAll(List.of("-cp", classPath, "io.dra4j.example.FakeDriverMain"));
        return command;
    }

    private void made() throws IOException {
        try {
            make();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("while an archive of the driver's classes was made");
        }
    }

    private void make() throws IOException, InterruptedException {
        Path made = archive.resolveSibling(UUID.randomUUID() + ".tmp");
        try (DriverUnderTest driver = new DriverUnderTest().plain()) {
            driver.classPath = classPath;
            driver.jvmOptions.addAll(OPTIONS);
            driver.jvmOptions.add("-XX:ArchiveClassesAtExit=" + made.toAbsolutePath());
            driver.start();
            driver.awaitRegistered();
            KubeletClaim claim = driver.allocate("claim", "gpu-0");
            driver.kubelet.prepare(DRIVER, List.of(claim));
            driver.kubelet.unprepare(DRIVER, List.of(claim));
            driver.terminate();
        }
        if (Files.exists(made)) {
            removeOthers();
            Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Those of earlier builds; a JVM that uses one has it open. */
    private static void removeOthers() throws IOException {
        try (DirectoryStream<Path> archives = Files.newDirectoryStream(FOLDER, "*.jsa")) {
            for (Path old : archives) {
                Files.deleteIfExists(old);
            }
        }
    }

    /** Archives know no folders on the class path. */
    private static String jar(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        StringBuilder content = new StringBuilder(folder.toString());
        for (Path file : files) {
            content.append(file).append(Files.size(file)).append(Files.getLastModifiedTime(file));
        }
        Path jar = FOLDER.resolve(hash(content.toString()) + ".jar").toAbsolutePath();
        if (!Files.exists(jar)) {
            Path made = jar.resolveSibling(UUID.randomUUID() + ".tmp");
            try (OutputStream out = Files.newOutputStream(made);
                    JarOutputStream entries = new JarOutputStream(out)) {
                for (Path file : files) {
                    entries.putNextEntry(new ZipEntry(folder.relativize(file).toString()));
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
