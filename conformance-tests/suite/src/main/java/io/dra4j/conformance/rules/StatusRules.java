// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.context.CdiView;
import io.dra4j.conformance.context.ClaimDraft;
import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ApiRules;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.rules.ClaimLimits;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.cluster.ObjectWatch;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rules for the status that the driver writes into claims, with the conditions for binding, and for the files from
 * which containers read about their devices.
 *
 * @see <a href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5304-dra-attributes-downward-api">
 *     KEP-5304</a>
 */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record StatusRules(TestContext context, Publishing publishing) {

    private static final String FOLDER = "/var/run/kubernetes.io/dra-device-attributes/";
    private static final String OBLIGATORY = "metadata.resource.k8s.io/v1beta1";
    private static final int OBLIGATORY_FROM = 37;
    private static final Set<String> OF_ONE_SHAPE = Set.of(OBLIGATORY, "metadata.resource.k8s.io/v1alpha1");
    private static final Pattern VERSION = Pattern.compile("/v(\\d{1,9})(?:(alpha|beta)(\\d{1,9}))?$");
    private static final Comparator<String> NEWEST_FIRST =
            Comparator.comparing(StatusRules::age).reversed();
    private static final List<String> BINDING_CONDITIONS = List.of("bindingConditions", "bindingFailureConditions");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OTHER = "nic.dra-conformance.dev";
    private static final String OTHERS_DEVICE = "nic-0";
    private static final Predicate<RecordedRequest> STATUS_WRITES = Requests.updates("resourceclaims");
    private static final String WRITTEN = "time until status.devices had the entry";

    StatusRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-DST-01")
    void entriesOfOthersSurvive() throws InterruptedException {
        PublishedDevice device = context.devices().one();
        ClaimDraft draft = context.claims().draft().request("r0", device).bareRequest("r1");
        draft.rawResult("r1", OTHER, device.pool(), OTHERS_DEVICE);
        KubeletClaim claim = context.claims().create(draft);
        plant(claim, device.pool());
        ClaimStatus status = new ClaimStatus(context, claim);
        JsonNode planted = status.entry(OTHER, OTHERS_DEVICE).orElseThrow();

        context.inject(Fault.status(409, "Conflict").on(STATUS_WRITES).times(1));
        if (context.calls().prepare(claim).complaint().isPresent()) {
            context.calls().prepared(claim); // a kubelet also calls again
        }
        Violation.unless(status.await(
                        WRITTEN, entry -> true, device, context.timeouts().change()))
                .because(
                        "the driver is declared to write the status of devices, and %d s after prepare, and a first write that was answered by 409 Conflict, status.devices has no entry of device %s",
                        context.timeouts().change().toSeconds(), device);
        check(claim, status.entry(context.place().driver(), device.name()).orElseThrow());
        survives(status, planted, "Prepare");

        int number = context.proxy().lastNumber();
        context.calls().unprepared(claim);
        context.isAnswered(Duration.ofSeconds(2), STATUS_WRITES.and(Requests.after(number)));
        survives(status, planted, "Unprepare");
    }

    private void plant(KubeletClaim claim, String pool) {
        ObjectNode patch = JSON.createObjectNode();
        ObjectNode entry = patch.putObject("status").putArray("devices").addObject();
        entry.put("driver", OTHER).put("pool", pool).put("device", OTHERS_DEVICE);
        entry.putObject("data").put("mtu", 9000);
        context.cluster().merge(context.claims().path(claim) + "/status", patch);
        context.transcript().note("driver " + OTHER + " writes its entry into status.devices");
    }

    private void check(KubeletClaim claim, JsonNode entry) {
        int conditions = entry.path("conditions").size();
        int data = entry.path("data").toString().length();
        context.measurements().count("conditions of an entry", conditions, ClaimLimits.DEVICE_CONDITIONS);
        context.measurements().bytes("data of an entry", data, ClaimLimits.RAW_LENGTH);
        ApiRules.of(context).requireValidEntry(context.claims().object(claim), entry);
    }

    private static void survives(ClaimStatus status, JsonNode planted, String call) {
        Optional<JsonNode> now = status.entry(OTHER, OTHERS_DEVICE);
        Violation.unless(now.isPresent() && now.get().equals(planted))
                .because(
                        "status.devices had an entry of another driver, %s; after %s it is %s: entries belong to their drivers",
                        planted, call, now.map(JsonNode::toString).orElse("gone"));
    }

    @Rule("DRA-DST-02")
    void aStatusThatCanNotBeWrittenIsTriedAgain() throws InterruptedException {
        for (int code : new int[] {403, 409}) {
            PublishedDevice device = context.devices().one();
            KubeletClaim claim = context.claims().allocate(device);
            Injection refusal = context.inject(Fault.status(code, "Refused").on(STATUS_WRITES));
            int number = context.proxy().lastNumber();
            CallResult first = context.calls().prepare(claim);
            context.isRequested(context.timeouts().soon(), STATUS_WRITES.and(Requests.after(number)));
            refusal.close();
            if (first.complaint().isPresent()) {
                context.calls()
                        .prepared(
                                claim,
                                "prepare failed after its write of the status was refused with %d, and again when it was accepted: %s",
                                code);
            }
            Violation.unless(new ClaimStatus(context, claim)
                            .await(
                                    WRITTEN,
                                    entry -> true,
                                    device,
                                    context.timeouts().repair()))
                    .because(
                            "a status that was refused with %d was not written within %d s after it could be",
                            code, context.timeouts().repair().toSeconds());
            context.calls().unprepared(claim);
        }
    }

    @Rule("DRA-BIND-01")
    void oneOfTheConditionsIsSet() throws InterruptedException {
        SeenPools pools = publishing.settled();
        List<PublishedDevice> bound =
                pools.devices().stream().filter(PublishedDevice::isBound).toList();
        Untested.unless(!bound.isEmpty(), "no device has binding conditions now");
        ApiRules rules = ApiRules.of(context);
        pools.slices().forEach(slice -> rules.requireValid(slice, ApiRules.BINDING));
        PublishedDevice device = bound.get(0);
        ClaimDraft draft = context.claims().draft().bareRequest("r0");
        var result = draft.rawResult("r0", context.place().driver(), device.pool(), device.name());
        BINDING_CONDITIONS.forEach(field -> result.set(field, device.json().path(field)));
        KubeletClaim claim = context.claims().create(draft);
        boolean isSet = new ClaimStatus(context, claim)
                .await(
                        "time until a binding condition was set",
                        entry -> conditions(device).stream().anyMatch(c -> holds(entry, c)),
                        device,
                        context.timeouts().change());
        Violation.unless(isSet)
                .because(
                        "device %s was allocated to a claim %d s ago, and the driver has set none of its conditions %s in status.devices: its pod is never bound",
                        device, context.timeouts().change().toSeconds(), conditions(device));
    }

    private static List<String> conditions(PublishedDevice device) {
        List<String> names = new ArrayList<>();
        BINDING_CONDITIONS.forEach(f -> device.json().path(f).forEach(name -> names.add(name.asText())));
        return names;
    }

    private static boolean holds(JsonNode entry, String type) {
        return ApiObjects.elements(entry.path("conditions")).stream()
                .anyMatch(condition -> condition.path("type").asText().equals(type)
                        && condition.path("status").asText().equals("True"));
    }

    /** The devices in the status of a claim, as drivers wrote them. */
    private record ClaimStatus(TestContext context, KubeletClaim claim) {

        /** The entry of a driver's device, if there is one. */
        public Optional<JsonNode> entry(String driver, String device) {
            return entry(context.claims().object(claim), driver, device);
        }

        private static Optional<JsonNode> entry(JsonNode object, String driver, String device) {
            return ApiObjects.elements(object.at("/status/devices")).stream()
                    .filter(one -> one.path("driver").asText().equals(driver))
                    .filter(one -> one.path("device").asText().equals(device))
                    .findFirst();
        }

        /** Waits until the entry of a device of the driver under test meets a condition, and measures the time. */
        public boolean await(String what, Predicate<JsonNode> wanted, PublishedDevice device, Duration timeout)
                throws InterruptedException {
            Measurements.Wait wait = context.measurements().begin(what, timeout);
            String path = context.claims().path(claim);
            String collection = path.substring(0, path.lastIndexOf('/'));
            try (ObjectWatch watch = context.cluster().watch(collection, "")) {
                return wait.end(watch.await(all -> isThere(all, wanted, device), timeout)
                        .isPresent());
            }
        }

        private boolean isThere(List<JsonNode> all, Predicate<JsonNode> wanted, PublishedDevice device) {
            return all.stream()
                    .filter(object -> object.at("/metadata/uid").asText().equals(claim.uid()))
                    .map(object -> entry(object, context.place().driver(), device.name()))
                    .flatMap(Optional::stream)
                    .anyMatch(wanted);
        }
    }

    @Rule("DRA-META-01")
    void metadataIsThereFromPrepareToUnprepare() {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        ClaimResult answer = context.calls().prepared(claim);
        Instant answered = Instant.now();
        Map<String, Path> files = files(answer);
        Violation.unless(!files.isEmpty())
                .because(
                        "the CDI specs of a prepared claim mount nothing below %s, where containers look for metadata",
                        FOLDER);
        files.values().forEach(file -> checkTime(file, answered));
        files.values().forEach(StatusRules::checkContent);
        context.calls().unprepared(claim);
        files.forEach((inside, outside) -> Violation.unless(!Files.exists(outside))
                .because("the metadata file %s is still there after Unprepare", outside));
    }

    /** The files on the host, by the paths at which containers find them. */
    private Map<String, Path> files(ClaimResult answer) {
        Map<String, Path> files = new TreeMap<>();
        for (String id : CdiView.ids(answer)) {
            for (JsonNode edits : context.cdi().resolve(id).edits()) {
                for (JsonNode mount : edits.path("mounts")) {
                    String inside = mount.path("containerPath").asText();
                    if (inside.replaceFirst("^/run/", "/var/run/").startsWith(FOLDER)) {
                        files.put(inside, outside(mount));
                    }
                }
            }
        }
        return files;
    }

    private Path outside(JsonNode mount) {
        return context.place().outside(Path.of(mount.path("hostPath").asText()));
    }

    /** A slow check also finds a file that was late: the file's own time tells. */
    private static void checkTime(Path file, Instant answered) {
        try {
            Instant written = Files.getLastModifiedTime(file).toInstant();
            Violation.unless(!written.isAfter(answered))
                    .because(
                            "the metadata file %s was written %d ms after Prepare had returned",
                            file, Duration.between(answered, written).toMillis());
        } catch (NoSuchFileException e) {
            throw new Violation("the metadata file " + file + " does not exist when Prepare returns");
        } catch (IOException e) {
            throw new Violation("the metadata file " + file + " can't be inspected: " + e);
        }
    }

    private static void checkContent(Path file) {
        for (Path one : single(file)) {
            List<JsonNode> all = documents(one);
            Violation.unless(!all.isEmpty() && all.stream().allMatch(StatusRules::isMetadata))
                    .because(
                            "the metadata file %s must contain objects of kind DeviceMetadata, but contains %s",
                            one, all);
        }
    }

    private static List<Path> single(Path file) {
        return Files.isDirectory(file) ? list(file) : List.of(file);
    }

    private static List<JsonNode> documents(Path file) {
        try (MappingIterator<JsonNode> objects = JSON.readerFor(JsonNode.class).readValues(file.toFile())) {
            return objects.readAll();
        } catch (IOException e) {
            throw new Violation("the metadata file " + file + " can't be parsed: " + e.getMessage());
        }
    }

    private static boolean isMetadata(JsonNode object) {
        return object.path("kind").asText().equals("DeviceMetadata") && object.has("apiVersion");
    }

    private static List<Path> list(Path folder) {
        try (var files = Files.list(folder)) {
            return files.toList();
        } catch (IOException e) {
            throw new Violation("the metadata in " + folder + " can't be read: " + e);
        }
    }

    @Rule("DRA-META-02")
    void documentsAreNewestFirstAndTellTheSame() {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        Map<Path, List<JsonNode>> documents = new TreeMap<>();
        files(context.calls().prepared(claim)).values().stream()
                .flatMap(file -> single(file).stream())
                .forEach(file -> documents.put(file, documents(file)));
        documents.forEach(StatusRules::checkOrder);
        documents.forEach(StatusRules::checkAgreement);
        documents.forEach(this::checkObligatory);
    }

    private static String version(JsonNode document) {
        return document.path("apiVersion").asText();
    }

    private static List<String> versions(List<JsonNode> documents) {
        return documents.stream().map(StatusRules::version).toList();
    }

    private static void checkOrder(Path file, List<JsonNode> documents) {
        List<String> versions = versions(documents);
        List<String> sorted = versions.stream().distinct().sorted(NEWEST_FIRST).toList();
        Violation.unless(versions.equals(sorted))
                .because(
                        "the metadata file %s has documents of %s; each version comes once, the newest first: %s",
                        file, versions, sorted);
    }

    private void checkObligatory(Path file, List<JsonNode> documents) {
        List<String> versions = versions(documents);
        String words =
                "the metadata file %s has documents of %s, but none of %s, which readers of Kubernetes 1.%d rely on"
                        .formatted(file, versions, OBLIGATORY, OBLIGATORY_FROM);
        if (context.release() < OBLIGATORY_FROM && !versions.contains(OBLIGATORY)) {
            context.remark(words);
        } else {
            Violation.unless(versions.contains(OBLIGATORY)).because("%s", words);
        }
    }

    /** Stable versions come first, then betas, then alphas; of each, the highest numbers. */
    private static String age(String version) {
        Matcher parts = VERSION.matcher(version);
        if (!parts.find()) {
            return "";
        }
        String stage = Objects.requireNonNullElse(parts.group(2), "stable");
        int number = parts.group(3) == null ? 0 : Integer.parseInt(parts.group(3));
        return "%s %09d %09d".formatted(stage, Integer.parseInt(parts.group(1)), number);
    }

    private static JsonNode content(JsonNode document) {
        ObjectNode content = document.deepCopy();
        content.remove("apiVersion");
        return content;
    }

    /** Versions of the same structure differ only in their names. */
    private static void checkAgreement(Path file, List<JsonNode> documents) {
        List<JsonNode> contents = documents.stream()
                .filter(document -> OF_ONE_SHAPE.contains(version(document)))
                .map(StatusRules::content)
                .toList();
        Violation.unless(contents.stream().distinct().count() <= 1)
                .because("the documents of the metadata file %s differ not only in their version: %s", file, contents);
    }
}
