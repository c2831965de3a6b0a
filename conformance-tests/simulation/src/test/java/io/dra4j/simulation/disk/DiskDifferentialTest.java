// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnJre;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** Random operations have the same results on the simulated disk and in a directory of the machine. */
class DiskDifferentialTest {

    private static final int SEQUENCES = Integer.getInteger("disk.sequences", 300);
    private static final int STEPS = 40;
    private static final List<String> NAMES =
            List.of("a", "b", "d", "d/a", "d/b", "e", "d/e", "d/e/a", "a/b", "./a", "d/../b", "d/.", "../root");
    private static final List<Set<OpenOption>> OPTIONS = List.of(
            Set.of(),
            Set.of(READ),
            Set.of(WRITE),
            Set.of(READ, WRITE, CREATE),
            Set.of(WRITE, CREATE_NEW),
            Set.of(WRITE, CREATE, TRUNCATE_EXISTING),
            Set.of(CREATE, APPEND),
            Set.of(READ, APPEND),
            Set.of(WRITE, SYNC));

    @TempDir
    private Path temporary;

    /** A directory, and what is open in it. */
    private record Side(Path root, List<FileChannel> channels, List<FileLock> locks) {

        static Side in(Path folder) throws IOException {
            return new Side(
                    Files.createDirectories(folder.resolve("root")).toRealPath(), new ArrayList<>(), new ArrayList<>());
        }

        Path path(Random random) {
            return root.resolve(NAMES.get(random.nextInt(NAMES.size())));
        }

        String outcome(long seed) {
            try {
                return shown(operation(this, new Random(seed)));
            } catch (FileSystemException e) {
                return e.getClass().getSimpleName() + " " + e.getReason();
            } catch (IOException e) {
                return e.getClass().getSimpleName() + " " + e.getMessage();
            } catch (RuntimeException e) {
                return e.getClass().getSimpleName();
            }
        }

        private String shown(Object result) {
            return result instanceof Path path ? root.relativize(path).toString() : result.toString();
        }

        List<String> tree() throws IOException {
            List<String> lines = new ArrayList<>();
            Files.createDirectories(root);
            try (Stream<Path> all = Files.walk(root)) {
                for (Path path : all.sorted().toList()) {
                    lines.add(
                            shown(path) + (Files.isDirectory(path) ? "/" : Arrays.hashCode(Files.readAllBytes(path))));
                }
            }
            return lines;
        }
    }

    /** The JDK's own checks have another order in JDK 25, and so throw other exceptions. */
    @Test
    @EnabledOnJre(JRE.JAVA_17)
    void answersAsTheMachineDoes() throws IOException {
        int failures = 0;
        for (int seed = 0; seed < SEQUENCES; seed++) {
            Side real = Side.in(temporary.resolve("" + seed));
            Side simulated = Side.in(new Disk().mount(new ScriptedOwner()).getPath("/" + seed));
            Random random = new Random(seed);
            List<String> done = new ArrayList<>();
            for (int step = 0; step < STEPS; step++) {
                long drawn = random.nextLong();
                String expected = real.outcome(drawn);
                String actual = simulated.outcome(drawn);
                done.add(describe(drawn) + ": " + expected);
                assertThat(actual).as("seed %s: %s", seed, done).isEqualTo(expected);
                failures += expected.contains("Exception") ? 1 : 0;
            }
            assertThat(simulated.tree()).as("seed %s: %s", seed, done).isEqualTo(real.tree());
            for (FileChannel channel : real.channels) {
                channel.close();
            }
        }
        assertThat(failures).isBetween(SEQUENCES * STEPS / 10, SEQUENCES * STEPS * 9 / 10);
    }

    private static String describe(long seed) {
        Random random = new Random(seed);
        return "operation " + random.nextInt(26) + " of " + NAMES.get(random.nextInt(NAMES.size())) + " and "
                + NAMES.get(random.nextInt(NAMES.size()));
    }

    private static Object operation(Side side, Random random) throws IOException {
        int kind = random.nextInt(26);
        Path one = side.path(random);
        Path other = side.path(random);
        byte[] bytes = new byte[random.nextInt(random.nextBoolean() ? 20 : 10_000)];
        for (int i = 0, first = random.nextInt(); i < bytes.length; i++) {
            bytes[i] = (byte) (first + i * 31);
        }
        return switch (kind) {
            case 0, 1 -> Files.write(one, bytes);
            case 2 -> Files.write(one, bytes, CREATE, APPEND);
            case 3 -> Files.write(one, bytes, CREATE_NEW);
            case 4 -> Arrays.hashCode(Files.readAllBytes(one));
            case 5 -> Files.createDirectory(one);
            case 6 ->
                Files.createDirectories(
                        one, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
            case 7 -> Files.deleteIfExists(one);
            case 8 -> deleted(one);
            case 9, 10 -> Files.move(one, other, ATOMIC_MOVE);
            case 11 -> Files.move(one, other, REPLACE_EXISTING);
            case 12 -> Files.move(one, other);
            case 13 -> Files.isDirectory(one) ? "" : Files.copy(one, other, REPLACE_EXISTING);
            case 14 -> Files.createLink(one, other);
            case 15 -> listed(one, random.nextBoolean() ? "*" : "[ae]*");
            case 16 -> attributes(one) + attributes(other) + Files.isSameFile(one, other);
            case 17 ->
                Files.getAttribute(
                        Files.setPosixFilePermissions(one, PosixFilePermissions.fromString("rw-r-x--x")), "unix:mode");
            case 18 -> one.toRealPath();
            case 19, 20 -> opened(side, one, OPTIONS.get(random.nextInt(OPTIONS.size())));
            default ->
                side.channels.isEmpty()
                        ? ""
                        : onChannel(side, side.channels.get(random.nextInt(side.channels.size())), bytes, random);
        };
    }

    private static boolean deleted(Path path) throws IOException {
        Files.delete(path);
        return true;
    }

    private static Object opened(Side side, Path path, Set<OpenOption> options) throws IOException {
        side.channels.add(FileChannel.open(path, options));
        return side.channels.size();
    }

    private static List<String> listed(Path path, String glob) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(path, glob)) {
            found.forEach(child -> names.add(child.getFileName().toString()));
        }
        return names.stream().sorted().toList();
    }

    private static String attributes(Path path) throws IOException {
        boolean exists = Files.exists(path) && Files.exists(path, LinkOption.NOFOLLOW_LINKS);
        if (!Files.isRegularFile(path)) {
            return "" + exists + Files.isDirectory(path) + (exists ? Files.getAttribute(path, "unix:nlink") : "");
        }
        BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
        return now.size() + " " + Files.getAttribute(path, "unix:nlink");
    }

    private static Object onChannel(Side side, FileChannel channel, byte[] bytes, Random random) throws IOException {
        int number = random.nextInt(6000);
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return switch (random.nextInt(10)) {
            case 0 -> channel.write(buffer) + " " + channel.position();
            case 1 -> channel.write(buffer, number);
            case 2 -> channel.read(buffer) + " " + channel.position() + Arrays.hashCode(bytes);
            case 3 -> channel.read(buffer, number) + Arrays.hashCode(bytes);
            case 4 -> channel.truncate(number).position();
            case 5 -> channel.position(number).position() + (number < 200 ? forced(channel) : "");
            case 6, 7 -> locked(side, channel, number % 3, random.nextInt(4) == 0);
            case 8 -> released(side, number);
            default ->
                closed(channel) + side.locks.stream().map(FileLock::isValid).toList();
        };
    }

    private static String forced(FileChannel channel) throws IOException {
        channel.force(false);
        return "forced";
    }

    private static Object locked(Side side, FileChannel channel, int position, boolean isShared) throws IOException {
        FileLock lock = channel.tryLock(position, 1, isShared);
        side.locks.add(lock);
        return lock.isValid();
    }

    private static Object released(Side side, int number) throws IOException {
        if (side.locks.isEmpty()) {
            return "";
        }
        FileLock lock = side.locks.get(number % side.locks.size());
        lock.release();
        return lock.isValid();
    }

    private static String closed(FileChannel channel) throws IOException {
        channel.close();
        return "closed";
    }
}
