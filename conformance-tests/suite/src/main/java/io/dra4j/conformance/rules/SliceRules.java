// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.Refusals;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Unpublished;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.ApiRules;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.conformance.probes.Restarts;
import io.dra4j.rules.OwnNames;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Rules for the content and the order of the driver's slices, and the requests that publish and prepare it. */
@ExecutionGroup.On(ExecutionGroup.SLICES)
record SliceRules(TestContext context, Publishing publishing) {

    /** A claim has room for 32; fewer leave room for slow drivers in the kubelet's 45 s. */
    private static final int AT_A_TIME = 8;

    private static final String KUBERNETES = "resource.kubernetes.io/";
    private static final Map<String, Pattern> STANDARD = Map.of(
            KUBERNETES + "pcieRoot", Pattern.compile("pci[0-9a-f]{4,8}:[0-9a-f]{2}"),
            KUBERNETES + "pciBusID", Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]"),
            KUBERNETES + "numaNode", Pattern.compile("[0-9]+"));

    private static final int FORBIDDEN = 403;

    SliceRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-SLICE-01")
    void slicesAreOfThisNode() throws InterruptedException {
        Optional<Unpublished> unpublished = context.unpublished();
        if (unpublished.isEmpty() && !context.settings().driver().hasNoDevices()) {
            unpublished = context.awaitPublished()
                    .filter(found -> publishing.now().slices().isEmpty());
        }
        acceptedBodies().forEach(this::checkNode);
        if (unpublished.isPresent() && unpublished.get().requirement().equals("DRA-SLICE-01")) {
            throw new Violation(unpublished.get().message() + late());
        }
        NotApplicable.unless(
                !publishing.now().slices().isEmpty(), "the settings declare that the driver has no devices");
        publishing.now().slices().forEach(this::checkSlice);
    }

    private String late() {
        int slices = publishing.now().slices().size();
        return slices == 0
                ? ""
                : "; there are %d slices now: if the driver legitimately takes so long, raise the setting timeoutFactor"
                        .formatted(slices);
    }

    /** The slices that the driver has written as JSON. */
    private List<JsonNode> acceptedBodies() {
        return context.proxy().requests(Publishing.WRITES).stream()
                .filter(r -> r.status() / 100 == 2 && !r.method().equals("PATCH"))
                .map(Publishing::body)
                .flatMap(Optional::stream)
                .toList();
    }

    private void checkNode(JsonNode slice) {
        String node = slice.at("/spec/nodeName").asText();
        Violation.unless(node.isEmpty() || node.equals(context.place().node()))
                .because(
                        "the driver wrote a slice of pool %s with spec.nodeName %s; it runs on node %s",
                        SeenPools.pool(slice), node, context.place().node());
    }

    private void checkSlice(JsonNode slice) {
        checkNode(slice);
        ApiRules.of(context).requireValid(slice, ApiRules.NODE_SELECTION);
        JsonNode node = context.cluster()
                .find("/api/v1/nodes/" + context.place().node())
                .orElseThrow();
        for (JsonNode owner : slice.at("/metadata/ownerReferences")) {
            boolean isOther = owner.path("kind").asText().equals("Node")
                    && !owner.path("uid").equals(node.at("/metadata/uid"));
            Violation.unless(!isOther)
                    .because(
                            "slice %s is owned by node %s with UID %s, which does not exist; its UID is %s",
                            SeenPools.name(slice),
                            owner.path("name").asText(),
                            owner.path("uid").asText(),
                            node.at("/metadata/uid").asText());
        }
        Violation.minorUnless(!slice.at("/metadata/ownerReferences").isEmpty()
                        || !slice.at("/spec").has("nodeName"))
                .because(
                        "slice %s has no owner; it should be the Node, so that the slice is deleted with it",
                        SeenPools.name(slice));
    }

    @Rule("DRA-SLICE-02")
    void everyWriteOfASliceIsAccepted() throws InterruptedException {
        SeenPools pools = publishing.settledOrRefused();
        publishing.refusal().ifPresent(refused -> {
            String what =
                    refused.status() == FORBIDDEN ? "the driver may not write a slice: " : "a slice is not valid: ";
            throw new Violation(what + Refusals.words(refused));
        });
        context.transcript().note(pools.slices().size() + " slices were accepted");
    }

    @Rule("DRA-SLICE-03")
    void settledPoolsHaveOneGenerationAndCountTheirSlices() throws InterruptedException {
        Optional<Unpublished> unpublished = context.unpublished();
        if (unpublished.isPresent() && !publishing.now().settled()) {
            throw publishing.unsettled();
        }
        if (unpublished.isPresent() && unpublished.get().requirement().equals("DRA-SLICE-03")) {
            throw new Violation(unpublished.get().message() + late());
        }
        publishing.settled();
    }

    @Rule("DRA-SLICE-18")
    void listsAndWatchesAreLimited() throws InterruptedException {
        SeenPools pools = publishing.settled();
        boolean nodeLocal = pools.slices().stream().allMatch(s -> s.at("/spec").has("nodeName"));
        for (RecordedRequest asked :
                context.proxy().requests(r -> r.list() || r.watch() && r.name().isEmpty())) {
            String selector = asked.query("fieldSelector");
            String verb = asked.watch() ? "watched" : "listed";
            boolean isLimited = selector.contains("metadata.name=")
                    || selector.contains("spec.nodeName=")
                    || (selector.contains("spec.driver=") && !nodeLocal);
            if (asked.resource().equals("resourceslices")) {
                Violation.unless(isLimited)
                        .because(
                                "the driver %s ResourceSlices with the field selector \"%s\"; it should name the node: spec.driver=%s,spec.nodeName=%s",
                                verb,
                                selector,
                                context.place().driver(),
                                context.place().node());
            } else if (asked.resource().equals("pods")) {
                Violation.unless(isLimited)
                        .because(
                                "the driver %s pods with the field selector \"%s\", which selects those of all nodes",
                                verb, selector);
            }
        }
    }

    @Rule("DRA-SLICE-20")
    void attributesAreWellFormed() throws InterruptedException {
        OwnNames names = new OwnNames(context.place().driver());
        for (PublishedDevice device : publishing.settled().devices()) {
            checkForms(names, device, "attributes");
            checkForms(names, device, "capacity");
            device.json()
                    .path("attributes")
                    .properties()
                    .forEach(a -> checkAttribute(device, names.bare(a.getKey()), a.getValue()));
        }
    }

    /** The driver's own domain may be written, but not once with it and once without. */
    private static void checkForms(OwnNames names, PublishedDevice device, String field) {
        JsonNode all = device.json().path(field);
        all.properties().forEach(one -> {
            String bare = names.bare(one.getKey());
            Violation.unless(bare.equals(one.getKey()) || !all.has(bare))
                    .because(
                            "device %s has %s and %s in %s, two forms of one name: clients differ in which they find",
                            device, bare, one.getKey(), field);
        });
    }

    private static void checkAttribute(PublishedDevice device, String name, JsonNode attribute) {
        if (!name.startsWith(KUBERNETES)) {
            return; // the suite does not know which names other domains have
        }
        Pattern form = STANDARD.get(name);
        Violation.unless(form != null)
                .because(
                        "device %s has the attribute %s, in a domain of Kubernetes, which defines no such attribute",
                        device, name);
        for (JsonNode value : attribute) {
            List<JsonNode> values = value.isArray() ? ApiObjects.elements(value) : List.of(value);
            for (JsonNode one : values) {
                Violation.unless(form != null && form.matcher(one.asText()).matches())
                        .because(
                                "device %s has the attribute %s with the value %s, which should have the form %s",
                                device, name, one, form);
            }
        }
    }

    @Rule("DRA-SLICE-19")
    void everyPublishedDeviceCanBePrepared() {
        List<PublishedDevice> together = context.devices().usable();
        List<PublishedDevice> alone = new ArrayList<>(context.devices().all());
        alone.removeIf(d -> together.contains(d) || d.isTainted() || d.isBound());
        if (together.isEmpty() && alone.isEmpty()) {
            context.devices().one(); // which reports why there is none
        }
        if (context.devices().areShaped()) {
            together.forEach(device -> prepare(List.of(device)));
            alone.removeIf(device -> Reported.names(together).contains(device.toString()));
            context.remark(remark(together, alone));
            return;
        }
        for (int from = 0; from < together.size(); from += AT_A_TIME) {
            prepare(together.subList(from, Math.min(together.size(), from + AT_A_TIME)));
        }
        alone.forEach(device -> prepare(List.of(device)));
    }

    private static String remark(List<PublishedDevice> tried, List<PublishedDevice> others) {
        return "by %d claims of the shape in driver.claims%s"
                .formatted(tried.size(), others.isEmpty() ? "" : ", which leave out the devices " + others);
    }

    private void prepare(List<PublishedDevice> devices) {
        KubeletClaim claim = context.claims().allocate(devices);
        CallResult result = context.calls().prepare(claim);
        if (result.complaint().isPresent() && devices.size() > 1) {
            context.calls().unprepared(claim);
            devices.forEach(device -> prepare(List.of(device))); // which of them is it?
            return;
        }
        Violation.unless(result.complaint().isEmpty())
                .about("DRA-PREP-01")
                .because(
                        "the published device %s can't be prepared under this pool and name: %s",
                        devices.get(0), result.complaint().orElse(""));
        ClaimResult answer = result.results().get(claim.uid());
        Violation.unless(Reported.isOfAllOrNone(context, answer, Reported.names(devices)))
                .about("DRA-PREP-02")
                .because(
                        "the devices %s were published and prepared, and the answer names %s instead",
                        Reported.names(devices), Reported.names(answer));
        context.calls().unprepared(claim);
    }

    @Rule("DRA-SLICE-21")
    void theOrderOfDevicesStays() throws InterruptedException {
        SeenPools before = publishing.settled();
        NotApplicable.unless(
                before.order().values().stream().anyMatch(devices -> devices.size() > 1),
                "no pool has two devices, so there is no order to compare");
        Restarts restarts = context.shared(Restarts.class, () -> Restarts.of(context));
        restarts.after().forEach(one -> compare(restarts.before(), one.pools(), one.restart()));
        if (context.hooks().has("unplug") && context.hooks().has("plug")) {
            changeAndRestore(before);
        } else {
            context.remark("without the hooks plug and unplug, only %d restarts were tried"
                    .formatted(restarts.after().size()));
        }
    }

    private void changeAndRestore(SeenPools before) throws InterruptedException {
        Opened unplugged = context.hook("unplug", "plug");
        try {
            publishing.await(
                    seen -> seen.settled() && !Publishing.like(before).test(seen),
                    context.timeouts().change());
            unplugged.close();
            publishing.restored(before, "the hook plug", context.timeouts().change());
        } finally {
            if (!unplugged.isClosed()) {
                publishing.undo(unplugged, before);
            }
        }
        compare(before, publishing.settled(), "the hooks unplug and plug");
    }

    private static void compare(SeenPools before, SeenPools seen, String after) {
        Map<String, List<String>> now = seen.order();
        before.order().forEach((pool, wanted) -> compare(pool, wanted, now.getOrDefault(pool, List.of()), after));
    }

    private static void compare(String pool, List<String> wanted, List<String> now, String after) {
        for (int place = 0; place < Math.min(wanted.size(), now.size()); place++) {
            Violation.unless(wanted.get(place).equals(now.get(place)))
                    .because(
                            "after %s the slices of pool %s, sorted by name, have their %d devices in another order: at position %d is %s, where %s was",
                            after, pool, wanted.size(), place + 1, now.get(place), wanted.get(place));
        }
    }
}
