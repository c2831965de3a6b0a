// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** A power failure leaves only what may be left, and every such outcome for some seed. */
class LosePowerTest {

    private static final int SEEDS = 300;

    @ParameterizedTest(name = "{0}")
    @CsvFileSource(resources = "lose-power.csv", delimiter = '|', numLinesToSkip = 1)
    void leavesWhatMayBeLeft(String name, String steps, String outcomes) throws IOException {
        Set<String> found = new TreeSet<>();
        for (int seed = 0; seed < SEEDS; seed++) {
            String left = left(steps, seed);
            found.add(left);
            assertThat(seed % 10 == 0 ? left(steps, seed) : left).isEqualTo(left);
        }

        assertThat(found).containsExactlyInAnyOrder(outcomes.split("; *"));
    }

    private static String left(String steps, long seed) throws IOException {
        Disk disk = new Disk();
        disk.temporary("/t");
        ScriptedOwner owner = new ScriptedOwner();
        FileSystem files = disk.mount(owner);
        for (String step : steps.split("; *")) {
            run(files, owner, step.split(" "));
        }

        disk.losePower(new Random(seed));

        return contents(disk.mount(new ScriptedOwner()).getPath("/"));
    }

    private static void run(FileSystem files, ScriptedOwner owner, String... step) throws IOException {
        Path path = files.getPath("/", step[1]);
        switch (step[0]) {
            case "write" -> Files.write(path, sectors(step[2]));
            case "append" -> Files.write(path, sectors(step[2]), CREATE, APPEND);
            case "over" -> over(path, sectors(step[2]));
            case "cut" -> cut(path, Integer.parseInt(step[2]));
            case "sync" -> sync(path);
            case "fail" -> {
                owner.next.add(Owner.Outcome.ALL); // of the open
                owner.fail(new IOException("Input/output error"));
                assertThatThrownBy(() -> sync(path)).hasMessage("Input/output error");
            }
            case "move" -> Files.move(path, files.getPath("/", step[2]), StandardCopyOption.ATOMIC_MOVE);
            case "link" -> Files.createLink(files.getPath("/", step[2]), path);
            case "delete" -> Files.delete(path);
            case "mkdir" -> Files.createDirectory(path);
            default -> throw new IllegalArgumentException(step[0]);
        }
    }

    private static void over(Path path, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(path, WRITE)) {
            channel.write(ByteBuffer.wrap(bytes), 0);
        }
    }

    private static void cut(Path path, int sectors) throws IOException {
        try (FileChannel channel = FileChannel.open(path, WRITE)) {
            channel.truncate((long) sectors * RegularFile.SECTOR);
        }
    }

    private static void sync(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, READ)) {
            channel.force(true);
        }
    }

    private static byte[] sectors(String letters) {
        byte[] bytes = new byte[letters.length() * RegularFile.SECTOR];
        for (int i = 0; i < letters.length(); i++) {
            Arrays.fill(bytes, i * RegularFile.SECTOR, (i + 1) * RegularFile.SECTOR, (byte) letters.charAt(i));
        }
        return bytes;
    }

    /** Returns all files, with a letter for each sector; "0" if it is empty, "?" if it is a mix. */
    private static String contents(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            String found = all.filter(Files::isRegularFile)
                    .sorted()
                    .map(LosePowerTest::content)
                    .collect(Collectors.joining(" "));
            return found.isEmpty() ? "nothing" : found;
        }
    }

    private static String content(Path path) {
        try {
            byte[] bytes = Files.readAllBytes(path);
            StringBuilder letters = new StringBuilder(path.toString().substring(1)).append('=');
            for (int from = 0; from < bytes.length; from += RegularFile.SECTOR) {
                byte[] sector = Arrays.copyOfRange(bytes, from, from + RegularFile.SECTOR);
                byte[] same = new byte[RegularFile.SECTOR];
                Arrays.fill(same, sector[0]);
                letters.append(Arrays.equals(sector, same) ? (char) Math.max('0', sector[0]) : '?');
            }
            return letters.toString();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
