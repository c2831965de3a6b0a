// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.error.PrepareException;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.PrepareOutcome.Prepared;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Failed;
import io.dra4j.runtime.internal.claim.ClaimOperations.UnprepareOutcome.Unprepared;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.observe.Meters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;

/** A node that does what the lines of a scenario say: claim-order.txt explains them. */
abstract class ScenarioNode extends NodeFixture implements ScenarioSteps {

    private final Map<ClaimRef, PrepareOutcome> outcomes = new HashMap<>();
    final List<ClaimRef> read = Collections.synchronizedList(new ArrayList<>());
    private Instant now = Instant.EPOCH;
    private @Nullable Orphans orphans;
    private int mark;
    private String spec = "";
    private Map<Path, byte[]> kept = Map.of();

    @BeforeEach
    final void recordReads() {
        node.api.beforeRead = read::add;
    }

    private void quietly(String line) {
        try {
            step(line);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static ClaimRef ref(String name) {
        return new ClaimRef("ns", name, "uid-" + name);
    }

    /** Does a line that is not of claims, processes and files. */
    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "prepare" -> {
                outcomes.put(ref(words[1]), node.prepare(ref(words[1])));
                assertThat(outcomes.get(ref(words[1]))).isInstanceOf(Prepared.class);
            }
            case "again" -> assertThat(node.prepare(ref(words[1]))).isEqualTo(outcomes.get(ref(words[1])));
            case "refused" -> assertThat(message(node.prepare(ref(words[1])))).contains(text.split(" \\| "));
            case "answered" -> assertThat(message(node.prepare(ref(words[1])))).isEqualTo(text);
            case "unprepare" -> assertThat(node.unprepare(ref(words[1]))).isInstanceOf(Unprepared.class);
            case "kept" -> {
                UnprepareOutcome outcome = node.unprepare(ref(words[1]));
                assertThat(outcome).isInstanceOf(Failed.class);
                assertThat(outcome).isEqualTo(text.isEmpty() ? outcome : new Failed(text));
            }
            case "calls" -> {
                assertThat(list(provider.calls.stream().map(call -> call.replace("uid-", ""))))
                        .isEqualTo(text);
                provider.calls.clear();
            }
            case "undone" ->
                assertThat(list(provider.unprepared.stream().map(claim -> shown(claim, false))))
                        .isEqualTo(text);
            case "held" ->
                assertThat(list(node.claims.held().stream()
                                .map(claim -> shown(claim, true))
                                .filter(claim -> words.length == 1 || claim.startsWith(words[1] + " "))
                                .sorted()))
                        .isEqualTo(text);
            case "specs" ->
                assertThat(list(node.specs().stream().map(uid -> uid.replace("uid-", ""))))
                        .isEqualTo(text);
            case "events" ->
                assertThat(list(node.events.stream().map(event -> event.reason().toString())))
                        .isEqualTo(text);
            case "fail" -> fail(words[1], text);
            case "crash" -> provider.failUnprepare(new AssertionError("cut off"));
            case "checkpoint" -> checkpoint(words[2], new ProviderState(1, text));
            case "returns" -> provider.results = right -> right.withState(new ProviderState(1, text));
            case "changes-nothing" -> provider.changesNothing = true;
            case "hardware" -> provider.hardware = List.of(words).subList(1, words.length);
            case "devices" -> provider.devices = Integer.parseInt(words[1]);
            default -> cluster(words, text);
        }
    }

    private static String shown(HeldClaim claim, boolean named) {
        ClaimRef ref = claim.ref();
        String name = ref.uid().replace("uid-", "");
        return Stream.of(
                        named && !ref.equals(ref(name)) ? ref.toString() : name,
                        claim.phase().toString(),
                        claim.devices().stream()
                                .map(device -> device.device()
                                        + (device.physicalId() == null ? "" : "=" + device.physicalId()))
                                .collect(Collectors.joining(" ")),
                        claim.state() == null ? "" : claim.state().rawJson(),
                        claim.beforeReboot() ? "of an earlier boot" : "")
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(" "));
    }

    private void fail(String operation, String text) {
        if (operation.equals("prepare")) {
            provider.onPrepare = (claim, context) -> failIfSaid(text);
        } else {
            provider.onUnprepare = claim -> failIfSaid(text);
        }
    }

    private static void failIfSaid(String text) {
        if (!text.isEmpty()) {
            throw new PrepareException(text);
        }
    }

    private void checkpoint(String operation, ProviderState state) {
        if (operation.equals("prepare")) {
            provider.onPrepare = (claim, context) -> context.checkpoint(state);
        } else {
            provider.recordedByUnprepare = Optional.of(state);
        }
    }

    private void cluster(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "allocate" -> node.allocate(ref(words[1]), results(words));
            case "deallocate" -> node.deallocate(ref(words[1]));
            case "delete" -> node.api.objects.remove(ref(words[1]));
            case "replace" -> {
                node.api.objects.remove(ref(words[1]));
                node.allocate(new ClaimRef("ns", words[1], "uid-z"), "gpu-0");
            }
            case "server" -> node.api.failure = text.isEmpty() ? null : new ClusterException(text, 503, null);
            case "lists" -> node.api.listFailure = text.isEmpty() ? null : new ClusterException(text, 503, null);
            case "no-api" -> node.api.failure = new ClusterException(text, 404, null);
            case "when-read" ->
                node.api.beforeRead = claim -> {
                    read.add(claim);
                    if (claim.equals(ref(words[1]))) {
                        quietly(text);
                    }
                };
            case "throw" -> throw new ClusterException(text, 503, null);
            case "read" -> {
                assertThat(list(read.stream().map(ClaimRef::name).distinct())).isEqualTo(text);
                read.clear();
            }
            case "kubelet" ->
                node.kubeletHas(Stream.of(words).skip(1).map(ScenarioNode::ref).toArray(ClaimRef[]::new));
            case "kubelet-file" -> {
                Path file = node.kubeletState().path();
                Files.writeString(file, Files.readString(file).replace(words[1], words[2]));
            }
            case "kubelet-version" -> node.kubeletState().writeVersion(words[1], "");
            case "no-kubelet-file" -> Files.delete(node.kubeletState().path());
            case "reported" ->
                node.api.objects.computeIfPresent(
                        ref(words[1]),
                        (ref, claim) -> new ClaimObject(
                                ref.uid(),
                                claim.allocation(),
                                Map.of(),
                                "{\"status\":{\"devices\":[{\"driver\":\"gpu.example.com\"}]}}"));
            case "send" -> node.toCluster.advance(Duration.ZERO);
            case "sent" -> assertThat(node.statuses.count()).isEqualTo(Integer.parseInt(text));
            case "lists-read" -> assertThat(node.api.lists).hasValue(Integer.parseInt(text));
            default -> files(words, text);
        }
    }

    /** Does a line about files; paths are below the driver's directory. */
    private void files(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "folder" -> Files.createDirectories(node.data.resolve(words[1]));
            case "there" -> assertThat(node.data.resolve(words[1])).exists();
            case "gone" -> assertThat(node.data.resolve(words[1])).doesNotExist();
            case "remember-spec" ->
                spec = Files.readString(node.spec(ref(words[1]).uid()));
            case "cut-spec" ->
                Files.writeString(node.spec(ref(words[1]).uid()), spec.substring(0, Integer.parseInt(words[2])));
            case "blank-spec" -> { // its stamp stays the same
                Path file = node.spec(ref(words[1]).uid());
                var written = Files.getLastModifiedTime(file);
                Files.write(file, new byte[(int) Files.size(file)]);
                Files.setLastModifiedTime(file, written);
            }
            case "same-spec" -> assertThat(node.spec(ref(words[1]).uid())).hasContent(spec);
            case "cdi-is-for-all" ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(node.cdi)))
                        .isEqualTo("rwxr-xr-x");
            default -> process(words, text);
        }
    }

    /** The devices that come after the claim, of a driver, and skipping operations. */
    private static Result[] results(String... words) {
        List<String> rest = Arrays.asList(words).subList(2, words.length);
        int skipping = rest.contains("skipping") ? rest.indexOf("skipping") : rest.size();
        Set<String> skipped = Set.copyOf(rest.subList(Math.min(skipping + 1, rest.size()), rest.size()));
        String driver = rest.contains("of") ? rest.get(rest.indexOf("of") + 1) : NodeUnderTest.DRIVER;
        return rest.subList(0, skipping).stream()
                .filter(word -> word.contains("gpu-"))
                .map(device -> Arrays.copyOf((device.contains("/") ? device : "node/" + device).split("/"), 3))
                .map(device -> new Result(driver, "r/sub", device[0], device[1], device[2], Map.of(), false, skipped))
                .toArray(Result[]::new);
    }

    private void process(String[] words, String text) throws Exception {
        Path journal = node.data.resolve("claims.journal");
        switch (words[0]) {
            case "record" -> {
                ClaimRecord record = node.journal.claim(ref(words[1]).uid()).orElseThrow();
                ProviderState state = text.isEmpty() ? null : new ProviderState(1, text);
                node.journal.put(new ClaimRecord(
                        record.ref(),
                        Phase.valueOf(words[2]),
                        words[3],
                        record.devices(),
                        state,
                        null,
                        null,
                        null,
                        null));
            }
            case "damaged" -> node.journal.put(ClaimRecord.damaged(ref(words[1]), "boot-1", List.of()));
            case "damaged-uid" ->
                node.journal.put(ClaimRecord.damaged(
                        new ClaimRef("unknown", "unknown", ref(words[1]).uid()), "boot-1", List.of()));
            case "forget" -> node.journal.forget(ref(words[1]).uid());
            case "busy" -> node.whileBusy(ref(words[1]), () -> quietly(text));
            case "restart" -> node.restart(words[1]);
            case "stop" -> node.stop();
            case "recover" -> {
                if (words.length > 1) {
                    node.recover(words[1]);
                } else {
                    node.claims.recover();
                }
            }
            case "maintain" -> node.claims.maintain();
            case "after" -> look(Duration.ofMinutes(Integer.parseInt(words[1])));
            case "lose" -> {
                node.stop();
                for (String file : text.split(" ")) {
                    Files.delete(node.data.resolve("claims." + file));
                }
                node.recover(words[1]);
            }
            case "lose-spec" -> Files.delete(node.spec(ref(words[1]).uid()));
            case "cut" -> Files.write(journal, Files.readAllLines(journal).subList(0, 1));
            case "mark" -> mark = Files.readAllLines(journal).size();
            case "cut-while-stopped" -> play("stop\ncut\nrecover boot-1");
            case "damage" -> {
                node.stop();
                damage(journal);
                node.recover("boot-1");
            }
            case "cdi-is-file" -> {
                Files.deleteIfExists(node.cdi);
                Files.writeString(node.cdi, "a file");
            }
            case "no-cdi" -> Files.delete(node.cdi);
            default -> others(words, text);
        }
    }

    /** Does what other processes do, or a power failure, which takes back what was not synced. */
    private void others(String[] words, String text) throws Exception {
        Path journal = node.data.resolve("claims.journal");
        Path locks = node.data.resolve("claims.lock");
        switch (words[0]) {
            case "blank" -> blank(journal);
            case "another-opens-the-journal" ->
                Journal.open(journal, "boot-1", node.locks, Meters.none()).close();
            case "keep-files" ->
                kept = Map.of(
                        journal, Files.readAllBytes(journal),
                        locks, Files.readAllBytes(locks));
            case "lose-power" -> {
                node.stop();
                for (Map.Entry<Path, byte[]> file : kept.entrySet()) {
                    Files.write(file.getKey(), file.getValue());
                }
                node.recover(words[1]);
            }
            case "unharmed" -> assertThat(node.journal.loss().uids()).isEmpty();
            case "unsynced-while-prepared" ->
                provider.onPrepare = (claim, context) -> {
                    assertThat(node.phase(claim.ref())).isEqualTo(Phase.PREPARING);
                    assertThat(locks).hasBinaryContent(kept.get(locks));
                };
            case "report" -> {
                Path report = node.data.resolve(
                        "reports/%s.json".formatted(ref(words[1]).uid()));
                Files.createDirectories(report.getParent());
                Path next = Files.writeString(report.resolveSibling("next"), text);
                Files.move(next, report, StandardCopyOption.ATOMIC_MOVE);
            }
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    /** Looks for orphans when some minutes have passed. */
    final void look(Duration time) {
        if (orphans == null) {
            ClaimParts context = node.context();
            Unpreparation unpreparation =
                    new Unpreparation(context, new ClaimQueue(node.executor), new LostClaims(context));
            orphans = new Orphans(context, unpreparation, () -> now);
        }
        now = now.plus(time);
        orphans.look();
    }

    /** Overwrites all lines but the header, in place. */
    private static void blank(Path journal) throws IOException {
        String text = Files.readString(journal);
        int header = text.indexOf('\n');
        String blank = text.substring(0, header) + text.substring(header).replaceAll(".", "x");
        Files.writeString(journal, blank, StandardOpenOption.WRITE);
    }

    /** Damages the sums of all lines behind the mark; the UIDs stay legible. */
    private void damage(Path journal) throws IOException {
        List<String> lines = Files.readAllLines(journal, StandardCharsets.UTF_8);
        for (int i = mark; i < lines.size(); i++) {
            lines.set(i, lines.get(i).replace("crc32c", "crc32x"));
        }
        Files.write(journal, lines);
    }
}
