// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.runtime.internal.claim.KubeletClaims;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/** The claims of the kubelet's pods, in its memory and in its file {@code dra_manager_state}. */
final class KubeletState {

    private static final JsonMapper JSON = new JsonMapper();

    private final Path file;
    private final Map<String, Entry> entries = new LinkedHashMap<>(); // by UID

    /** A claim that some pods use. */
    static final class Entry {
        private final ClaimRef ref;
        private final Set<String> pods = new LinkedHashSet<>();
        private boolean isPrepared; // not in the file
        private boolean isEnding;

        Entry(ClaimRef ref) {
            this.ref = ref;
        }

        ClaimRef ref() {
            return ref;
        }

        boolean isPrepared() {
            return isPrepared;
        }

        void prepared() {
            isPrepared = true;
        }
    }

    KubeletState(Path file) {
        this.file = file;
    }

    /** Adds a pod to those that use a claim. */
    Entry add(ClaimRef ref, String pod) {
        Entry entry = entries.computeIfAbsent(ref.uid(), unseen -> new Entry(ref));
        entry.pods.add(pod);
        return entry;
    }

    /** Returns whether the last pod of a claim has ended, and the claim is not unprepared yet. */
    boolean isEnding(String uid) {
        Entry entry = entries.get(uid);
        return entry != null && entry.isEnding;
    }

    /** Removes a pod from the claims that other pods also use, and returns those that no other pod uses. */
    List<ClaimRef> remove(String pod) {
        List<ClaimRef> last = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (entry.pods.contains(pod) && entry.pods.size() == 1) {
                entry.isEnding = true;
                entry.isPrepared = false;
                last.add(entry.ref);
            } else {
                entry.pods.remove(pod);
            }
        }
        return last;
    }

    void forget(String uid) {
        entries.remove(uid);
    }

    Set<String> pods() {
        return entries.values().stream()
                .flatMap(entry -> entry.pods.stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /**
     * Writes the file, as the kubelet does: it is synced and renamed, but the rename is not synced; false if it fails.
     */
    boolean save() {
        try {
            Path next = file.resolveSibling(".dra_manager_state.next");
            try (FileChannel channel = FileChannel.open(
                    next, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(text().getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                channel.force(true);
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private String text() {
        ObjectNode data = JSON.createObjectNode().put("kind", "DRACheckpoint").put("apiVersion", KubeletClaims.VERSION);
        for (Entry entry : entries.values()) {
            ObjectNode one = data.withArray("entries")
                    .addObject()
                    .put("namespace", entry.ref.namespace())
                    .put("name", entry.ref.name())
                    .put("uid", entry.ref.uid());
            entry.pods.forEach(one.withArray("pods")::add);
        }
        CRC32 sum = new CRC32();
        sum.update(data.toString().getBytes(StandardCharsets.UTF_8));
        return JSON.createObjectNode()
                .put("Data", data.toString())
                .put("Checksum", sum.getValue())
                .toString();
    }

    /** Reads the file again, and returns the UIDs of the claims that it lacks; a damaged file has none. */
    List<String> load() {
        Map<String, Entry> before = new LinkedHashMap<>(entries);
        entries.clear();
        try {
            for (JsonNode one :
                    JSON.readTree(KubeletClaims.text(Files.readAllBytes(file))).path("entries")) {
                ClaimRef ref = new ClaimRef(
                        one.path("namespace").asText(),
                        one.path("name").asText(),
                        one.path("uid").asText());
                one.path("pods").forEach(pod -> add(ref, pod.asText()));
            }
        } catch (IOException | IllegalArgumentException e) {
            entries.clear();
        }
        before.keySet().removeAll(entries.keySet());
        return List.copyOf(before.keySet());
    }

    /** Removes the file. */
    void lose() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
