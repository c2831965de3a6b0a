// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Mutants whose state or whose CDI specs are wrong, or are written at the wrong time. */
final class StateMutants {

    private StateMutants() {}

    /** Takes what is not in the state for what never was. */
    static class TrustingWork extends ClaimWork {
        @Override
        Map<String, ObjectNode> held() {
            return state.read().orElseGet(LinkedHashMap::new);
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (!known.isEmpty()) {
                super.forget(id, held, known);
            }
        }
    }

    /** The state of v1beta1 is a driver's of its own. */
    @Altered(id = "M-16")
    static final class TwoStates extends Calls {
        private final ClaimWork beta;

        TwoStates() {
            String plugins = "--kubelet-plugins-directory-path";
            String folder = driver.settings.data().resolve("beta").toString();
            Settings settings = driver.settings.with(plugins, folder);
            beta = new Parts(settings, List.of(BetaSpecs.class)).make(BareDriver.class).calls.work;
        }

        @Override
        ClaimWork work(String version) {
            if (version.equals(PluginV1.VERSION)) {
                return work;
            }
            beta.state.makeFolder();
            return beta;
        }
    }

    static final class BetaSpecs extends CdiSpecs {
        @Override
        String kind() {
            return settings.driver() + "/gpu-beta";
        }

        @Override
        java.nio.file.Path file(String uid) {
            return super.file("beta-" + uid);
        }
    }

    @Altered(
            id = "M-57",
            with = {TrustingWork.class, NamesOfTheMoment.class})
    static final class InMemory extends StateFile {
        private Map<String, ObjectNode> claims = Map.of(); // guarded by the lock of all work

        @Override
        Optional<Map<String, ObjectNode>> read() {
            return Optional.of(new LinkedHashMap<>(claims));
        }

        @Override
        void write(Map<String, ObjectNode> next) {
            claims = new LinkedHashMap<>(next);
        }
    }

    /** Answers first, and writes a second later. */
    @Altered(
            id = "M-83",
            with = {TrustingWork.class, NamesOfTheMoment.class})
    static final class Late extends StateFile {
        private Map<String, ObjectNode> claims; // guarded by the lock of all work

        @Override
        Optional<Map<String, ObjectNode>> read() {
            return claims == null ? super.read() : Optional.of(new LinkedHashMap<>(claims));
        }

        @Override
        void write(Map<String, ObjectNode> next) {
            claims = new LinkedHashMap<>(next);
            Map<String, ObjectNode> copy = claims;
            Pauses.later(1000, () -> super.write(copy));
        }
    }

    /** The spec comes before any record of it. */
    @Altered(id = "M-84", with = NamesOfTheMoment.class)
    static final class EffectsFirst extends TrustingWork {
        @Override
        ObjectNode carryOut(Map<String, ObjectNode> held, ObjectNode fresh) {
            effects(fresh);
            Pauses.millis(100);
            held.put(fresh.path("uid").asText(), fresh);
            finish(held, fresh);
            return fresh;
        }
    }

    @Altered(
            id = "M-86",
            with = {TrustingWork.class, NamesOfTheMoment.class})
    static final class StartingOver extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            write(Map.of());
            return Optional.of(new LinkedHashMap<>());
        }
    }

    @Altered(id = "M-222", with = Undefended.class)
    static final class StartingFresh extends StateFile {
        @Override
        Optional<Map<String, ObjectNode>> damaged(IOException problem) {
            return Optional.of(new LinkedHashMap<>());
        }
    }

    static final class Undefended extends TrustingWork {
        @Override
        void checkFree(ObjectNode fresh, Map<String, ObjectNode> held) {}
    }

    /** Reads the file once, and knows nothing of what another instance does. */
    @Altered(
            id = "M-89",
            with = {TrustingWork.class, NamesOfTheMoment.class})
    static final class OwnCopy extends StateFile {
        private Map<String, ObjectNode> claims; // guarded by the lock of this instance

        @Override
        synchronized <T> T locked(Supplier<T> work) {
            return work.get();
        }

        @Override
        Optional<Map<String, ObjectNode>> read() {
            if (claims == null) {
                claims = super.read().orElseGet(LinkedHashMap::new);
            }
            return Optional.of(new LinkedHashMap<>(claims));
        }

        @Override
        void write(Map<String, ObjectNode> next) {
            claims = new LinkedHashMap<>(next);
            super.write(next);
        }
    }

    /** A claim that was refused keeps its intent until it is unprepared. */
    @Altered(id = "M-263")
    static final class IntentFirst extends ClaimWork {
        @Override
        ObjectNode work(ClaimId id) {
            state.locked(() -> {
                begin(held(), plan(id, fetch(id)));
                return true;
            });
            Pauses.millis(50);
            return super.work(id);
        }
    }

    /** It knows what the other instance had prepared when this one started. */
    @Altered(id = {"M-261a", "M-261b"})
    static final class SlotsOfTheProcess extends StateVariants.Slots {
        private final Map<String, Integer> table = new HashMap<>(); // guarded by the lock of all work

        @Override
        void start() {
            super.start();
            held().forEach((uid, held) -> table.put(uid, held.path("slot").asInt()));
        }

        @Override
        Set<Integer> taken() {
            return Set.copyOf(table.values());
        }

        @Override
        ObjectNode plan(ClaimId id, JsonNode claim) {
            ObjectNode fresh = super.plan(id, claim);
            table.put(id.uid(), fresh.path("slot").asInt());
            return fresh;
        }

        @Override
        void release(String uid) {
            super.release(uid);
            table.remove(uid);
        }
    }

    @Altered(id = "M-262")
    static final class LockedInProcess extends StateVariants.Slots {
        private Set<Integer> seen = Set.of(); // guarded by this

        @Override
        synchronized ObjectNode work(ClaimId id) {
            seen = super.taken();
            Pauses.millis(20);
            return super.work(id);
        }

        @Override
        Set<Integer> taken() {
            return seen;
        }
    }

    /** Its container edits have what comes with each device of the claim. */
    @Altered(id = "M-260")
    static final class OneForTheClaim extends CdiSpecs {
        @Override
        String name(String uid, String device, String share) {
            return "claim-" + uid;
        }

        @Override
        ObjectNode spec(ObjectNode held) {
            ObjectNode spec = super.spec(held);
            ObjectNode all = (ObjectNode) spec.path("devices").path(0);
            ArrayNode env = all.withObject("containerEdits").putArray("env");
            held.path("devices").forEach(each -> env.addAll((ArrayNode) each.path("env")));
            spec.putArray("devices").add(all);
            return spec;
        }
    }

    @Altered(id = "M-63")
    static final class Chunked extends CdiSpecs {
        private static final int CHUNKS = 3;

        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file, "");
            for (int chunk = 0; chunk < CHUNKS; chunk++) {
                int from = content.length() * chunk / CHUNKS;
                int to = content.length() * (chunk + 1) / CHUNKS;
                Files.writeString(file, content.substring(from, to), StandardOpenOption.APPEND);
                Pauses.millis(30);
            }
        }
    }

    /** One spec for all claims, with what each of them adds in the edits of all. */
    @Altered(id = "M-65")
    static final class OneForAll extends CdiSpecs {
        private static final String PREFIX = "example.com/";

        @Override
        Path file(String uid) {
            return super.file("all");
        }

        @Override
        Map<String, ObjectNode> records() {
            Map<String, ObjectNode> records = new LinkedHashMap<>();
            try {
                if (Files.exists(file(""))) {
                    for (JsonNode text : Json.read(Files.readString(file(""))).path("annotations")) {
                        ObjectNode held = (ObjectNode) Json.read(text.asText());
                        records.put(held.path("uid").asText(), held.put("done", true));
                    }
                }
            } catch (IOException e) {
                throw new Refused("Can't read the CDI spec: " + e);
            }
            return records;
        }

        @Override
        void restore(ObjectNode held) {
            write(held);
        }

        @Override
        void write(ObjectNode held) {
            Map<String, ObjectNode> records = records();
            records.put(held.path("uid").asText(), held);
            write(records);
        }

        @Override
        void delete(String uid) {
            Map<String, ObjectNode> records = records();
            if (records.remove(uid) == null) {
                return;
            }
            if (records.isEmpty()) {
                super.delete(uid);
            } else {
                write(records);
            }
        }

        private void write(Map<String, ObjectNode> records) {
            ObjectNode all = super.spec(records.values().iterator().next());
            all.putObject("annotations");
            all.putArray("devices");
            for (ObjectNode held : records.values()) {
                String uid = held.path("uid").asText();
                all.withObject("/annotations").put(PREFIX + uid, record(held));
                held.path("devices").forEach(d -> all.withArray("devices").add(device(d)));
                all.withObject("/containerEdits").withArray("env").add("RESOURCE_CLAIM=" + uid);
            }
            try {
                put(file(""), all.toString());
            } catch (IOException e) {
                throw new Refused("Can't write the CDI spec: " + e);
            }
        }
    }

    @Altered(id = "M-68")
    static final class Tidy extends BareDriver {
        @Override
        void start() throws IOException {
            cdi.files("*.json").forEach(cdi::remove);
            super.start();
        }
    }

    @Altered(id = "M-125a")
    static final class OpenToAll extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            super.put(file, content);
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
        }
    }

    @Altered(id = "M-125c")
    static final class OpenFolder extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
            super.put(file, content);
        }
    }

    /** A first version of the spec stays next to the final one. */
    @Altered(id = "M-125b")
    static final class Untidy extends CdiSpecs {
        @Override
        void put(Path file, String content) throws IOException {
            Files.writeString(file.resolveSibling("." + file.getFileName() + ".tmp"), content);
            super.put(file, content);
        }
    }
}
