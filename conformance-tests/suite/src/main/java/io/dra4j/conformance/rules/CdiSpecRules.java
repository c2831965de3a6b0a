// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.CdiView.Resolved;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.Content;
import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Rounds;
import io.dra4j.conformance.probes.SpecWatch;
import io.dra4j.conformance.settings.ConfigSettings.Valid;
import io.dra4j.testkit.cdi.CdiCheck;
import io.dra4j.testkit.cdi.CdiName;
import io.dra4j.testkit.cdi.CdiVersion;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/** Rules for the CDI specs that results refer to, and for the files of their directory, including those of others. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record CdiSpecRules(TestContext context) {

    private static final Duration LONG_ENOUGH = Duration.ofSeconds(20);
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final Set<PosixFilePermission> OF_OTHERS =
            Set.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);
    private static final int FORMAT = 0xf000;
    private static final Map<Integer, String> TYPES = Map.of(0x2000, "c", 0x6000, "b", 0x1000, "p");
    private static final int MANY = 8;

    /** The ids of an answer to a claim with several devices, if the driver has several. */
    private List<String> ids() {
        return ids(context.calls()
                .prepared(context.claims().allocate(context.devices().forOneClaim(MANY))));
    }

    private static List<String> ids(ClaimResult answer) {
        List<String> ids = CdiView.ids(answer);
        NotApplicable.unless(!ids.isEmpty(), "the driver answers without CDI ids");
        return ids;
    }

    @Rule("DRA-CDI-01")
    void idsAreQualifiedNames() {
        for (String id : ids()) {
            Violation.ifPresent(CdiName.problem(id), "the CDI id \"%s\" %s", id);
        }
    }

    @Rule("DRA-CDI-02")
    void idsResolveWhenTheAnswerIsThere() {
        ids().forEach(context.cdi()::resolve);
    }

    /** The specs that some ids refer to, with their files. */
    private List<Resolved> specs(List<String> ids) {
        return ids.stream().map(context.cdi()::resolve).toList();
    }

    @Rule("DRA-CDI-03")
    void specsAreValid() {
        for (Resolved resolved : specs(ids())) {
            List<String> problems = CdiCheck.problems(resolved.spec());
            Violation.unless(problems.isEmpty())
                    .because("the CDI spec %s is invalid: %s", resolved.file(), String.join("; ", problems));
        }
    }

    @Rule("DRA-CDI-04")
    void specsNameTheVersionThatTheyNeed() {
        String newest = context.settings().driver().cdiVersion();
        for (Resolved resolved : specs(ids())) {
            Optional<String> problem = CdiVersion.problem(resolved.spec(), newest);
            Violation.ifPresent(problem, "in the CDI spec %s, %s", resolved.file());
        }
    }

    @Rule("DRA-CDI-06")
    void aClaimsSpecsGoWithIt() {
        PublishedDevice device = context.devices().one();
        context.unpreparedClaim(device); // afterwards, specs that serve all claims exist
        Content before = context.cdi().contents();
        KubeletClaim claim = context.unpreparedClaim(device);
        List<String> differences = context.cdi().changes(before);
        Violation.unless(differences.isEmpty())
                .because(
                        "after Unprepare of claim %s, the CDI specs are not as before: %s",
                        claim.uid(), SeenPools.few(differences));
    }

    @Rule("DRA-CDI-07")
    void aClaimGetsNothingOfAnother() {
        List<PublishedDevice> devices = context.devices().some(2);
        KubeletClaim one = context.claims().allocate(devices.get(0));
        KubeletClaim other = context.claims().allocate(devices.get(1));
        ClaimResult answer = context.calls().prepared(one);
        List<String> alone = edits(answer);
        ClaimResult second = context.calls().prepared(other);
        unmixed(one, edits(answer), alone, other);
        context.calls().unprepared(one);
        List<String> without = edits(second);
        ClaimResult again = context.calls().prepared(one);
        unmixed(other, edits(second), without, one);
        mentionsNot(one, edits(again), other);
    }

    private List<String> edits(ClaimResult answer) {
        ids(answer);
        return context.cdi().edits(answer.devices());
    }

    private static void unmixed(KubeletClaim claim, List<String> now, List<String> before, KubeletClaim other) {
        List<String> more = now.stream().filter(line -> !before.contains(line)).toList();
        Violation.unless(more.isEmpty())
                .because(
                        "since claim %s was prepared, containers of claim %s also get %s",
                        other.uid(), claim.uid(), more);
        mentionsNot(claim, now, other);
    }

    private static void mentionsNot(KubeletClaim claim, List<String> edits, KubeletClaim other) {
        for (String line : edits) {
            Violation.unless(!line.contains(other.uid()))
                    .because("containers of claim %s get something of claim %s: %s", claim.uid(), other.uid(), line);
        }
    }

    @Rule("DRA-CDI-08")
    void aNameKeepsItsContent() {
        PublishedDevice device = context.devices().one();
        List<Valid> configs = context.settings().driver().configs().valid();
        Map<String, Content> first = contents(device, configs, 0);
        contents(device, configs, 1).forEach((id, content) -> {
            List<String> differences = content.differences(first.getOrDefault(id, content));
            Violation.unless(differences.isEmpty())
                    .because("the CDI name %s was used again with other content: %s", id, SeenPools.few(differences));
        });
    }

    /** Returns the edits that a claim's ids resolve to, and unprepares it. */
    private Map<String, Content> contents(PublishedDevice device, List<Valid> configs, int which) {
        ClaimDraft draft = context.claims().draft().request("r0", device);
        if (configs.size() > which) {
            draft.config(configs.get(which).parameters(), "r0");
        }
        KubeletClaim claim = context.claims().create(draft);
        Map<String, Content> contents = new LinkedHashMap<>();
        for (String id : ids(context.calls().prepared(claim))) {
            List<JsonNode> edits = context.cdi().resolve(id).edits();
            contents.put(id, Content.of(Map.of("its device's edit", edits.get(0), "its spec's edit", edits.get(1))));
        }
        context.calls().unprepared(claim);
        return contents;
    }

    private ClaimResult prepared(KubeletClaim claim) {
        ClaimResult answer = context.calls().prepared(claim);
        NotApplicable.unless(!CdiView.ids(answer).isEmpty(), "the driver answers without CDI ids");
        return answer;
    }

    @Rule("DRA-CDI-05")
    void specsAppearAtOnce() throws Exception {
        PublishedDevice device = context.devices().one();
        try (SpecWatch watch = new SpecWatch(context.cdi().folders())) {
            Rounds rounds = new Rounds(20, LONG_ENOUGH);
            while (rounds.next()) {
                KubeletClaim claim = context.claims().allocate(device);
                prepared(claim);
                context.calls().unprepared(claim);
            }
            Violation.ifPresent(watch.fault(), "%s");
        }
    }

    @Rule("DRA-CDI-09")
    void nodesExistAndAreOfOneClaim() throws IOException {
        List<PublishedDevice> usable = context.devices().some(2);
        List<PublishedDevice> exclusive = context.devices().usable().stream()
                .filter(d -> !d.isShared())
                .limit(3)
                .toList();
        Map<KubeletClaim, Set<String>> nodes = new LinkedHashMap<>();
        for (PublishedDevice device : exclusive.size() < 2 ? usable : exclusive) {
            KubeletClaim claim = context.claims().allocate(device);
            nodes.put(claim, nodes(prepared(claim)));
        }
        NotApplicable.unless(
                nodes.values().stream().anyMatch(some -> !some.isEmpty()), "the driver's edits have no device nodes");
        if (exclusive.size() > 2) {
            noTwoAreTheSame(nodes);
        }
    }

    /** Nodes of all claims are common to all devices, and parts of a device share nodes of it, but not all their nodes. */
    private static void noTwoAreTheSame(Map<KubeletClaim, Set<String>> nodes) {
        Set<String> common = new TreeSet<>(nodes.values().iterator().next());
        nodes.values().forEach(common::retainAll);
        Map<Set<String>, String> owners = new HashMap<>();
        nodes.forEach((claim, paths) -> {
            paths.removeAll(common);
            String other = paths.isEmpty() ? null : owners.put(paths, claim.uid());
            Violation.unless(other == null)
                    .because(
                            "the claims %s and %s have exclusive devices, and the same nodes %s in their edits",
                            other, claim.uid(), paths);
        });
    }

    /** The host's device nodes of an answer, each of which is checked. */
    private Set<String> nodes(ClaimResult answer) throws IOException {
        Set<String> paths = new TreeSet<>();
        for (String id : CdiView.ids(answer)) {
            for (JsonNode edits : context.cdi().resolve(id).edits()) {
                for (JsonNode node : edits.path("deviceNodes")) {
                    String path = node.path("hostPath").asText(node.path("path").asText());
                    Path file = context.place().outside(Path.of(path));
                    if (Files.exists(file) || !isComplete(node)) {
                        exists(file, node.path("type").asText());
                    }
                    paths.add(path);
                }
            }
        }
        return paths;
    }

    /** The runtime creates such a node itself, and does not use the host's. */
    private static boolean isComplete(JsonNode node) {
        return !node.path("type").asText().isEmpty() && node.path("major").asLong() != 0;
    }

    private static void exists(Path node, String declared) throws IOException {
        Violation.unless(Files.exists(node)).because("the device node %s is not on the host", node);
        int mode = (Integer) Files.getAttribute(node, "unix:mode");
        String type = TYPES.getOrDefault(mode & FORMAT, "no device");
        String wanted = declared.equals("u") ? "c" : declared;
        Violation.unless(wanted.isEmpty() ? !type.equals("no device") : wanted.equals(type))
                .because("the device node %s is declared as \"%s\", but is \"%s\" on the host", node, declared, type);
    }

    @Rule("DRA-CDI-10")
    void aMissingSpecIsWrittenAgain() throws IOException {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Opened removed = removed(prepared(claim));
        try (removed) {
            CdiView.ids(context.calls().prepared(claim)).forEach(context.cdi()::resolve);
        }
    }

    @ExecutionGroup.On(ExecutionGroup.QUIET)
    @Rule("DRA-CDI-13")
    void aSpecThatVanishesIsWrittenAgain() throws IOException {
        ClaimResult answer =
                prepared(context.claims().allocate(context.devices().one()));
        Opened removed = removed(answer);
        try (removed) {
            Duration limit = context.timeouts().look();
            Measurements.Wait wait = context.measurements().begin("time until the specs were back", limit);
            long end = System.nanoTime() + limit.toNanos();
            while (!resolve(answer) && System.nanoTime() < end) {
                LockSupport.parkNanos(LOOK.toNanos());
            }
            Violation.unless(wait.end(resolve(answer)))
                    .because(
                            "%d s after the specs of a prepared claim were removed, in the same boot, they are not back: a kubelet does not prepare the claim again, and its containers can't be restarted",
                            limit.toSeconds());
        }
    }

    private boolean resolve(ClaimResult answer) {
        return CdiView.ids(answer).stream().allMatch(context.cdi()::resolves);
    }

    private Opened removed(ClaimResult answer) throws IOException {
        Map<Path, byte[]> removed = new HashMap<>();
        for (String id : CdiView.ids(answer)) {
            Path file = context.cdi().path(context.cdi().resolve(id).file());
            removed.put(file, Files.readAllBytes(file));
        }
        context.transcript().note("remove " + removed.keySet());
        return context.change(
                () -> {
                    for (Path file : removed.keySet()) {
                        Files.delete(file);
                    }
                },
                () -> restore(removed));
    }

    /** A spec that was not written again may serve all claims, so other rules may need it. */
    private static void restore(Map<Path, byte[]> removed) throws IOException {
        for (Map.Entry<Path, byte[]> file : removed.entrySet()) {
            if (!Files.exists(file.getKey())) {
                Files.write(file.getKey(), file.getValue());
            }
        }
    }

    @ExecutionGroup.On(ExecutionGroup.RESTARTS)
    @Rule("DRA-CDI-11")
    void specsOfOthersStay() throws IOException {
        try (SentinelFiles sentinels = SentinelFiles.ofCdi(context)) {
            KubeletClaim claim = context.claims().allocate(context.devices().one());
            prepared(claim);
            noNameTwice();
            if (context.driver().adapter().controlsProcess()) {
                context.driver().restartAfterKill();
                context.calls().prepared(claim);
            }
            context.calls().unprepared(claim);
            sentinels.live();
        }
    }

    private void noNameTwice() {
        Map<String, String> files = new HashMap<>();
        for (Map.Entry<String, JsonNode> one : context.cdi().specs().entrySet()) {
            String file = one.getKey();
            Path folder = context.cdi().path(file).getParent();
            for (JsonNode device : one.getValue().path("devices")) {
                String kind = one.getValue().path("kind").asText();
                String name = kind + "=" + device.path("name").asText();
                String known = files.put(folder + " " + name, file);
                Violation.unless(known == null || !context.cdi().isOwn().test(name))
                        .because("the CDI device %s is defined in %s and in %s", name, known, file);
            }
        }
    }

    @Rule("DRA-CDI-12")
    void noTemporaryFileStaysAndOnlyTheOwnerMayWrite() throws IOException {
        PublishedDevice device = context.devices().one();
        Set<String> before = context.cdi().files().keySet();
        Rounds rounds = new Rounds(20, LONG_ENOUGH);
        while (rounds.next()) {
            KubeletClaim claim = context.claims().allocate(device);
            for (String id : CdiView.ids(prepared(claim))) {
                Resolved resolved = context.cdi().resolve(id);
                closed(context.cdi().path(resolved.file()));
            }
            context.calls().unprepared(claim);
        }
        List<String> left = context.cdi().files().entrySet().stream()
                .filter(file -> context.cdi().isOwn().test(file.getKey() + file.getValue()))
                .map(Map.Entry::getKey)
                .filter(name -> !before.contains(name))
                .filter(name -> !CdiView.isSpec(name))
                .toList();
        Violation.unless(left.isEmpty())
                .because(
                        "after %d rounds of prepare and unprepare, files are left that are not specs: %s",
                        rounds.done(), left);
        closed(context.cdi().folder());
    }

    private static void closed(Path path) throws IOException {
        try {
            Set<PosixFilePermission> modes = Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS);
            Violation.unless(modes.stream().noneMatch(OF_OTHERS::contains))
                    .because(
                            "%s can be written by its group or others: %s", path, PosixFilePermissions.toString(modes));
        } catch (NoSuchFileException e) {
            throw new Violation(path + " disappeared while its claim was prepared");
        }
    }

    /** Files of others, which a driver must not change; closing removes them. */
    private static final class SentinelFiles implements AutoCloseable {

        private static final String KIND = "sentinel.dra-conformance.example.org/file";

        private final Map<Path, Sentinel> sentinels = new LinkedHashMap<>();

        private record Sentinel(byte[] content, Object inode) {}

        /** Specs of another vendor, in both forms, and a file that is not a spec. */
        public static SentinelFiles ofCdi(TestContext context) {
            SentinelFiles sentinels = new SentinelFiles();
            context.change(() -> sentinels.plant(context.cdi().folder()), sentinels::close);
            return sentinels;
        }

        private void plant(Path folder) throws IOException {
            add(folder.resolve("sentinel-" + ProcessHandle.current().pid() + ".json"), """
                    {"cdiVersion": "0.3.0", "kind": "%s",
                     "devices": [{"name": "json", "containerEdits": {"env": ["SENTINEL=1"]}}]}
                    """.formatted(KIND));
            add(folder.resolve("sentinel-" + ProcessHandle.current().pid() + ".yaml"), """
                    cdiVersion: 0.3.0
                    kind: %s
                    devices: [{name: yaml, containerEdits: {env: [SENTINEL=2]}}]
                    """.formatted(KIND));
            add(folder.resolve("sentinel.txt"), "no spec at all\n");
        }

        private void add(Path file, String content) throws IOException {
            byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
            Files.write(file, bytes);
            sentinels.put(file, new Sentinel(bytes, Files.getAttribute(file, "unix:ino")));
        }

        /** Asserts that all of them are unchanged. */
        public void live() throws IOException {
            for (Map.Entry<Path, Sentinel> sentinel : sentinels.entrySet()) {
                try {
                    boolean same = Arrays.equals(
                                    Files.readAllBytes(sentinel.getKey()),
                                    sentinel.getValue().content())
                            && Files.getAttribute(sentinel.getKey(), "unix:ino")
                                    .equals(sentinel.getValue().inode());
                    Violation.unless(same).because("%s, a file of others, was changed", sentinel.getKey());
                } catch (NoSuchFileException e) {
                    throw new Violation(sentinel.getKey() + ", a file of others, was removed");
                }
            }
        }

        @Override
        public void close() throws IOException {
            for (Path file : sentinels.keySet()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
