// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.disk;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.simulation.disk.Owner.Outcome;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.function.ThrowingSupplier;

/** Processes on one disk: their operations and how these fail, their locks, and their ends. */
class DiskTest {

    private static final IOException EIO = new IOException("Input/output error");

    private final Disk disk = new Disk();
    private final ScriptedOwner owner = new ScriptedOwner();
    private final FileSystem files = disk.mount(owner);
    private final ScriptedOwner other = new ScriptedOwner();
    private final FileSystem otherFiles = disk.mount(other);
    private final Path file = files.getPath("/a");

    @BeforeEach
    void writeAFile() throws IOException {
        Files.writeString(file, "content");
        owner.operations.clear();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns calls that each perform one operation that changes something, by the operation. */
    private Map<String, Executable> changes(FileChannel channel) {
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("CREATE /b", () -> Files.createFile(files.getPath("/b")));
        calls.put("MAKE_DIRECTORY /d", () -> Files.createDirectory(files.getPath("/d")));
        calls.put("WRITE /a 3", () -> channel.write(bytes("new")));
        calls.put("TRUNCATE /a 1", () -> channel.truncate(1));
        calls.put("LOCK /a", () -> assertThat(channel.tryLock()).isNotNull());
        calls.put("LINK /a -> /c", () -> Files.createLink(files.getPath("/c"), file));
        calls.put(
                "SET_PERMISSIONS /a",
                () -> Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------")));
        calls.put(
                "RENAME /b -> /d/b",
                () -> Files.move(files.getPath("/b"), files.getPath("/d/b"), StandardCopyOption.ATOMIC_MOVE));
        calls.put("DELETE /c", () -> Files.delete(files.getPath("/c")));
        return calls;
    }

    @Test
    void doesNothingOfAnOperationThatFails() throws Throwable {
        try (FileChannel channel = FileChannel.open(file, WRITE)) {
            for (Map.Entry<String, Executable> call : changes(channel).entrySet()) {
                String before = disk.tree();
                owner.operations.clear();
                owner.fail(EIO);

                assertThatThrownBy(call.getValue()::execute).as(call.getKey()).isSameAs(EIO);
                assertThat(disk.tree()).as(call.getKey()).isEqualTo(before);
                assertThat(owner.operations).containsExactly(call.getKey());

                call.getValue().execute();
                if (!call.getKey().startsWith("LOCK")) {
                    assertThat(disk.tree()).as(call.getKey()).isNotEqualTo(before);
                }
            }
        }
    }

    /** The JDK splits some calls into several operations: they are the same in each release, because traces must be. */
    @Test
    void makesTheSameOperationsOfACallInEachRelease() throws Throwable {
        Path child = files.getPath("/d/e/f");
        Map<ThrowingSupplier<?>, List<String>> calls = new LinkedHashMap<>();
        calls.put(() -> Files.exists(file), List.of("STAT /a"));
        calls.put(() -> Files.isDirectory(file), List.of("STAT /a"));
        calls.put(() -> Files.getAttribute(file, "unix:ino"), List.of("STAT /a"));
        calls.put(() -> Files.readString(file), List.of("OPEN /a", "STAT /a", "READ /a 7", "READ /a 1"));
        calls.put(() -> Files.writeString(file, "other"), List.of("CREATE /a", "WRITE /a 5"));
        calls.put(
                () -> Files.write(file, new byte[9000], CREATE, APPEND, SYNC),
                List.of("CREATE /a", "WRITE /a 8192", "SYNC /a", "WRITE /a 808", "SYNC /a"));
        calls.put(
                () -> Files.createDirectories(child),
                List.of(
                        "MAKE_DIRECTORY /d/e/f",
                        "STAT /d/e",
                        "STAT /d",
                        "STAT /",
                        "MAKE_DIRECTORY /d",
                        "MAKE_DIRECTORY /d/e",
                        "MAKE_DIRECTORY /d/e/f"));
        calls.put(() -> Files.createDirectories(child), List.of("MAKE_DIRECTORY /d/e/f", "STAT /d/e/f"));
        calls.put(
                () -> Files.copy(file, child.resolve("g"), StandardCopyOption.REPLACE_EXISTING),
                List.of(
                        "STAT /a",
                        "OPEN /a",
                        "CREATE /d/e/f/g",
                        "READ /a 8192",
                        "WRITE /d/e/f/g 8192",
                        "READ /a 8192",
                        "WRITE /d/e/f/g 813",
                        "READ /a 8192"));
        calls.put(() -> Disk.createTempFile(child, "x-", ".tmp"), List.of("CREATE /d/e/f/x-1.tmp"));
        calls.put(
                () -> Files.newDirectoryStream(child, "*.tmp").iterator().next().toString(), List.of("LIST /d/e/f"));
        calls.put(() -> Files.deleteIfExists(file), List.of("DELETE /a"));
        for (Map.Entry<ThrowingSupplier<?>, List<String>> call : calls.entrySet()) {
            owner.operations.clear();
            call.getKey().get();
            assertThat(owner.operations).isEqualTo(call.getValue());
        }
    }

    @Test
    void writesOnlyAPartAndFails() throws IOException {
        try (FileChannel channel = FileChannel.open(file, WRITE)) {
            owner.next.add(new Outcome(3, null));
            assertThat(channel.write(bytes("short"))).isEqualTo(3);

            owner.next.add(new Outcome(1, EIO));
            assertThatThrownBy(() -> channel.write(bytes("torn"))).isSameAs(EIO);
        }
        assertThat(Files.readString(otherFiles.getPath("/a"))).isEqualTo("shotent");
    }

    @Test
    void knowsWhatAnyPowerFailureLeaves() throws IOException {
        Path made = files.getPath("/b");
        try (FileChannel channel = FileChannel.open(made, CREATE, WRITE);
                FileChannel names = FileChannel.open(files.getPath("/"))) {
            channel.write(bytes("line"));
            channel.force(false);
            assertThat(Disk.durable(made)).isEmpty();

            names.force(true);
            channel.write(bytes("s"));
            assertThat(Disk.durable(made).map(String::new)).hasValue("line");

            owner.fail(EIO);
            assertThatThrownBy(() -> channel.force(false)).isSameAs(EIO);
            channel.force(false);
            assertThat(Disk.durable(made).map(String::new)).hasValue("line\0");
        }
    }

    @Test
    void hasNoMoreRoomThanItsCapacity() throws IOException {
        disk.capacity(3 * 4096);
        Path large = files.getPath("/large");
        assertThatThrownBy(() -> Files.write(large, new byte[9000])).hasMessage("No space left on device");
        assertThat(Files.size(large)).isEqualTo(8192);
        assertThat(disk.used()).isEqualTo(3 * 4096);

        try (FileChannel open = FileChannel.open(large, WRITE)) {
            Files.delete(large);
            assertThatThrownBy(() -> Files.write(files.getPath("/b"), new byte[1]))
                    .hasMessageContaining("No space");
            open.truncate(1);
            Files.write(files.getPath("/b"), new byte[1]);
        }
        Files.move(files.getPath("/b"), files.getPath("/c"));
        assertThat(disk.used()).isEqualTo(2 * 4096);
        Files.write(file, new byte[8192], WRITE);
        assertThat(disk.used()).isEqualTo(3 * 4096);
    }

    @Test
    void countsItsRoomAfterAPowerFailure() throws IOException {
        disk.sync();
        Files.createLink(files.getPath("/b"), file);
        Files.write(files.getPath("/c"), new byte[9000]);
        disk.losePower(new Random(0));
        long used = disk.used();

        Path again = disk.mount(owner).getPath("/");
        long blocks = 0;
        for (String name : List.of("a", "c")) {
            Path path = again.resolve(name);
            blocks += Files.exists(path) ? (Files.size(path) + 4095) / 4096 : 0;
        }
        assertThat(used).isEqualTo(blocks * 4096).isPositive();
    }

    @Test
    void closesAChannelWhoseThreadIsInterrupted() throws IOException {
        try (FileChannel channel = FileChannel.open(file, READ)) {
            owner.fail(new ClosedByInterruptException());
            assertThatThrownBy(channel::size).isInstanceOf(ClosedByInterruptException.class);
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void givesTheNumberOfADeletedFileAgainWhenItsDeletionIsDurable() throws IOException {
        disk.sync();
        Object key = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        Files.delete(file);
        assertThat(key(Files.createFile(files.getPath("/b")))).isNotEqualTo(key);

        disk.sync();

        assertThat(key(Files.createFile(files.getPath("/c")))).isEqualTo(key);
    }

    private static Object key(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    @Test
    void losesWhatIsInMemoryInAReboot() throws IOException {
        disk.temporary("/var/run");
        Files.writeString(files.getPath("/var/run/a"), "in memory");
        assertThat(disk.used()).isEqualTo(4096);

        disk.reboot();

        assertThat(disk.tree().lines().map(line -> line.split(" ")[0]))
                .containsExactly("/", "/a", "/var/", "/var/run/");
        assertThatThrownBy(() -> Files.exists(file)).isInstanceOf(IllegalStateException.class);
    }

    /** Two processes, and their locks. */
    @Nested
    class Locks {

        @Test
        void excludeOtherProcesses() throws IOException {
            try (FileChannel mine = FileChannel.open(file, READ, WRITE);
                    FileChannel second = FileChannel.open(file, READ, WRITE);
                    FileChannel theirs = FileChannel.open(otherFiles.getPath("/a"), READ, WRITE)) {
                FileLock lock = mine.tryLock(5, 1, false);
                assertThat(lock).isNotNull();
                assertThat(theirs.tryLock(5, 1, true)).isNull();
                assertThat(theirs.tryLock(6, 1, false)).isNotNull();
                assertThatThrownBy(() -> second.tryLock(5, 1, false)).isInstanceOf(OverlappingFileLockException.class);

                lock.release();
                assertThat(theirs.tryLock(5, 1, true)).isNotNull();
                assertThat(mine.tryLock(5, 1, true)).isNotNull();
            }
        }

        @Test
        void endWhenTheProcessClosesAnyChannelOfTheFile() throws IOException {
            try (FileChannel mine = FileChannel.open(file, WRITE);
                    FileChannel theirs = FileChannel.open(otherFiles.getPath("/a"), WRITE)) {
                FileLock lock = mine.tryLock();

                Files.readString(file);

                assertThat(lock.isValid()).isTrue(); // as the JDK believes
                assertThat(theirs.tryLock()).isNotNull();
            }
        }

        @Test
        void endWithTheProcess() throws IOException {
            FileChannel theirs = FileChannel.open(otherFiles.getPath("/a"), WRITE);
            theirs.write(bytes("left"));
            assertThat(theirs.tryLock()).isNotNull();

            other.death = new Error("killed");
            disk.died(other);

            assertThatThrownBy(() -> theirs.write(bytes("late"))).isSameAs(other.death);
            theirs.close();
            try (FileChannel mine = FileChannel.open(file, WRITE)) {
                assertThat(mine.tryLock()).isNotNull();
                theirs.close();
                assertThat(Files.readString(file)).isEqualTo("leftent");
            }
        }
    }
}
