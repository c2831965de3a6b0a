// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.zip.CRC32;

/**
 * The state of claims, in one file that is replaced as a whole; all instances of the driver on the
 * node share it, under a lock of the file system.
 */
class StateFile {

    /** A file's lock keeps out other processes, not others in this one. */
    private static final Map<Path, ReentrantLock> LOCKS = new ConcurrentHashMap<>();

    private final Settings settings = Parts.driver().settings;
    final Path file = settings.data().resolve("state.json");
    private final Path lockFile = settings.data().resolve("state.lock");
    private final String boot = settings.boot();
    private final ReentrantLock lock = LOCKS.computeIfAbsent(lockFile, path -> new ReentrantLock());

    void makeFolder() {
        try {
            Files.createDirectories(file.getParent());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs work that no other thread and no other instance does at the same time. */
    <T> T locked(Supplier<T> work) {
        lockInstances();
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            if (!held.isValid()) {
                throw new IllegalStateException("The lock is gone");
            }
            Life.current().check();
            return work.get();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    private void lockInstances() {
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Life.current().check();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Returns all claims by UID; empty if there is no file that can be understood. */
    Optional<Map<String, ObjectNode>> read() {
        try {
            return Optional.of(parse(Files.readString(file)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            return damaged(e);
        }
    }

    Optional<Map<String, ObjectNode>> damaged(IOException problem) {
        Life.current().log("The state can't be read, it is created again: " + problem.getMessage());
        return Optional.empty();
    }

    private static Map<String, ObjectNode> parse(String text) throws IOException {
        JsonNode content = Json.read(text);
        if (content.path("sum").asLong(-1) != sum(content.path("claims"))) {
            throw new IOException("the checksum is wrong");
        }
        Map<String, ObjectNode> claims = new LinkedHashMap<>();
        Json.list(content.path("claims"))
                .forEach(held -> claims.put(held.path("uid").asText(), (ObjectNode) held));
        return claims;
    }

    /** Returns whether the file was written before the node's last reboot. */
    boolean isOfEarlierBoot() {
        try {
            String written = Json.read(Files.readString(file)).path("boot").asText();
            return !written.isEmpty() && !written.equals(boot);
        } catch (IOException e) {
            return false;
        }
    }

    void write(Map<String, ObjectNode> claims) {
        ObjectNode content = Json.object().put("boot", boot);
        content.putArray("claims").addAll(claims.values());
        content.put("sum", sum(content.path("claims")));
        Life.current().check();
        try {
            Path next = file.resolveSibling("state.next");
            Files.writeString(next, content.toString());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new Refused("Can't write the state: " + e);
        }
    }

    private static long sum(JsonNode claims) {
        CRC32 sum = new CRC32();
        sum.update(claims.toString().getBytes(StandardCharsets.UTF_8));
        return sum.getValue();
    }
}
