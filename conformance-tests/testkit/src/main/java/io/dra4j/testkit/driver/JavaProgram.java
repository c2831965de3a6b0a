// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.driver;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * A driver in Java that is started often: with an archive of the classes that it loads (from JDK 25 on, an AOT cache),
 * it starts in half the time.
 *
 * <p>The archive stays valid while the files of the class path and their times are the same. JVMs that need it at the
 * same time create it once; in one JVM, only one thread may request it.
 *
 * @param folder the folder of the archive, and of the jars that replace directories of classes
 * @param jvmOptions options of the JVM
 * @param classPath jars, and directories of classes
 * @param main the name of the main class
 */
public record JavaProgram(Path folder, List<String> jvmOptions, List<String> classPath, String main) {

    /** JVM options for programs that run for seconds. */
    public static final List<String> SHORT_LIVED =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData");

    public JavaProgram {
        folder = folder.toAbsolutePath();
        jvmOptions = List.copyOf(jvmOptions);
        classPath = List.copyOf(classPath);
    }

    private static final boolean AOT = Runtime.version().feature() >= 25;

    /** A run of the program, which ends after it has loaded what it needs. */
    public interface Training {

        /** Runs a command until it ends on its own or by SIGTERM. */
        void run(List<String> command) throws IOException, InterruptedException;
    }

    /** Returns the entries of this JVM's class path. */
    public static List<String> ownClassPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.isEmpty())
                .toList();
    }

    /** Returns the command that starts the program without an archive. */
    public List<String> command() {
        return command(classPath, List.of());
    }

    /** Writes a script that starts the program without an archive, under its name in an image. */
    public void writeScript(Path file) throws IOException {
        String words = command().stream()
                .map(word -> "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
        Files.writeString(file, "#!/bin/sh\nexec " + words + " \"$@\"\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    /** Returns the command that starts the program with its archive, which is made if needed. */
    public List<String> archived(Training training) throws IOException, InterruptedException {
        Files.createDirectories(folder);
        List<String> jars = new ArrayList<>();
        String key = main + jvmOptions + System.getProperty("java.vm.version");
        for (String entry : classPath) {
            if (!Files.exists(Path.of(entry))) {
                continue; // as the JVM does
            }
            String jar = Files.isDirectory(Path.of(entry)) ? jar(Path.of(entry)) : entry;
            jars.add(jar);
            key += jar + Files.getLastModifiedTime(Path.of(jar)); // as the JVM compares them
        }
        Path archive = folder.resolve(hash(key) + ".jsa");
        try (FileChannel lock = FileChannel.open(folder.resolve("lock"), CREATE, WRITE)) {
            lock.lock(); // against other JVMs, which wait for the archive
            if (!Files.exists(archive)) {
                Path made = folder.resolve(UUID.randomUUID() + ".tmp");
                training.run(
                        command(jars, List.of((AOT ? "-XX:AOTCacheOutput=" : "-XX:ArchiveClassesAtExit=") + made)));
                removeOthers();
                Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE);
            }
        }
        String use = (AOT ? "-XX:AOTCache=" : "-XX:SharedArchiveFile=") + archive;
        return command(jars, List.of(use, "-Xlog:cds=off", AOT ? "-Xlog:aot=off" : "-Xlog:cds+dynamic=off"));
    }

    private List<String> command(List<String> entries, List<String> more) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmOptions);
        command.addAll(more);
        command.addAll(List.of("-cp", String.join(File.pathSeparator, entries), main));
        return command;
    }

    /** Removes the archives of earlier builds; a JVM that uses one keeps it open. */
    private void removeOthers() throws IOException {
        try (DirectoryStream<Path> archives = Files.newDirectoryStream(folder, "*.jsa")) {
            for (Path old : archives) {
                Files.deleteIfExists(old);
            }
        }
    }

    /** Makes a jar of a directory: archives support no directories on the class path. */
    private String jar(Path classes) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(classes)) {
            files = all.filter(Files::isRegularFile).sorted().toList();
        }
        StringBuilder content = new StringBuilder(classes.toString());
        for (Path file : files) {
            content.append(file).append(Files.size(file)).append(Files.getLastModifiedTime(file));
        }
        Path jar = folder.resolve(hash(content.toString()) + ".jar");
        if (!Files.exists(jar)) {
            Path made = folder.resolve(UUID.randomUUID() + ".tmp");
            try (OutputStream out = Files.newOutputStream(made);
                    JarOutputStream entries = new JarOutputStream(out)) {
                for (Path file : files) {
                    entries.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
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
