// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.cel.DeviceExpressions;
import io.dra4j.rules.ClaimRules;
import io.dra4j.rules.ClassRules;
import io.dra4j.rules.ExpressionCompiler;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.Field;
import io.dra4j.rules.FieldErrors;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.SliceRules;
import io.dra4j.rules.TaintRuleRules;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.store.StoredObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** The strategies of all kinds that have one. */
public final class Strategies {
    /** Strategies by release and gates, shared by all servers: making one costs more than most servers' other work. */
    private static final Map<String, ExpressionCompiler> COMPILERS = new ConcurrentHashMap<>();

    private Strategies() {}

    /** The store has the namespaces of the claims. */
    public static Map<String, Strategy> of(
            FeatureGates gates, MetadataRules metadata, ResourceKinds kinds, ObjectStore store) {
        ExpressionCompiler compiler =
                COMPILERS.computeIfAbsent(gates.version() + " " + gates.changed(), key -> new DeviceExpressions(gates));
        AdminAccess adminAccess = new AdminAccess(kinds, store);
        return Map.of(
                "resourceslices", new SliceStrategy(gates, metadata),
                "resourceclaims", new ClaimStrategy(gates, compiler, adminAccess),
                "resourceclaimtemplates", new TemplateStrategy(gates, compiler, adminAccess),
                "deviceclasses", new DeviceClasses(gates, compiler),
                "devicetaintrules", new TaintRuleStrategy(gates.version(), compiler, metadata),
                "events", new EventStrategy(false),
                "events.events.k8s.io", new EventStrategy(true),
                "pods", new FirstPhase("Pending"),
                "namespaces", new FirstPhase("Active"));
    }

    private record DeviceClasses(FeatureGates gates, ExpressionCompiler compiler) implements Strategy {
        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            GatedFields.drop(GatedFields.OF_CLASSES, gates, next, old);
            JsonTrees.child(next, "spec");
        }

        @Override
        public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
            ClassRules.check(next.path("spec"), compiler, errors);
        }
    }

    /** Kinds that start in a phase. */
    private record FirstPhase(String phase) implements Strategy {
        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            if (old == null) {
                JsonTrees.child(next, "status").put("phase", phase);
            }
        }
    }

    /** The strategy of ResourceClaims: an immutable spec, and a status that scheduler and drivers share. */
    private record ClaimStrategy(FeatureGates gates, ExpressionCompiler compiler, AdminAccess adminAccess)
            implements Strategy {
        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            GatedFields.drop(GatedFields.OF_CLAIMS, gates, next, old);
            ClaimRules.setDefaults(next.path("spec"));
            ClaimRules.setStatusDefaults(next.path("status"));
            if (part == Part.STATUS && old != null) {
                forgetDeallocated(next, old);
            }
            ClaimForm.ofSpec(next);
            ClaimForm.ofStatus(next);
        }

        /** Removes entries of devices that this write deallocates. */
        private static void forgetDeallocated(ObjectNode next, ObjectNode old) {
            if (JsonTrees.at(next, "status", "devices") instanceof ArrayNode devices) {
                Set<String> before = ClaimRules.allocated(old);
                before.removeAll(ClaimRules.allocated(next));
                devices.removeIf(device -> before.contains(ClaimRules.deviceKey(device)));
            }
        }

        @Override
        public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
            if (old == null) {
                adminAccess.check(next, next.path("spec"), errors);
                ClaimRules.checkSpec(next.path("spec"), "spec", gates, compiler, errors);
            } else if (!next.path("spec").equals(old.path("spec"))) {
                errors.invalid("spec", next.path("spec"), "field is immutable");
            }
            if (part == Part.STATUS) {
                ObjectNode before = old == null ? JsonTrees.object() : old;
                adminAccess.checkStatus(next, before, errors);
                ClaimRules.checkStatus(next, before, gates.version(), errors);
            }
        }
    }

    /** The strategy of ResourceSlices. */
    private static final class SliceStrategy implements Strategy {
        private final FeatureGates gates;
        private final MetadataRules metadata;
        private final SliceRules rules;

        public SliceStrategy(FeatureGates gates, MetadataRules metadata) {
            this.gates = gates;
            this.metadata = metadata;
            this.rules = new SliceRules(gates);
        }

        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            GatedFields.drop(GatedFields.OF_SLICES, gates, next, old);
            if (!gates.enabled(FeatureGate.DRA_SHARED_CONSUMABLE_CAPACITY)) { // KEP 5941 makes amounts optional
                GatedFields.walk(next, GatedFields.steps(GatedFields.AMOUNT), (counter, field) -> {
                    if (!counter.has("valueFrom")) {
                        setDefault(counter, field, "0");
                    }
                    return false;
                });
            }
            for (JsonNode device : JsonTrees.at(next, "spec", "devices")) {
                dropEmptyMaps((ObjectNode) device);
                for (JsonNode taint : device.path("taints")) {
                    setDefault(taint, "timeAdded", metadata.now());
                }
                for (JsonNode mapping : device.path("nodeAllocatableResourceMappings")) {
                    setDefault(mapping, "allocationMultiplier", "1");
                }
            }
        }

        private static void dropEmptyMaps(ObjectNode device) {
            for (String field : List.of("attributes", "capacity")) {
                if (device.path(field).isObject() && device.path(field).isEmpty()) {
                    device.remove(field);
                }
            }
        }

        private static void setDefault(JsonNode object, String field, String value) {
            if (object instanceof ObjectNode fields && !fields.hasNonNull(field)) {
                fields.put(field, value);
            }
        }

        @Override
        public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
            if (old == null) {
                rules.check(next.path("spec"), errors);
            } else {
                rules.checkUpdate(next.path("spec"), old.path("spec"), errors);
            }
        }
    }

    /** The strategy of DeviceTaintRules: a selection of devices, and the taint that they get. */
    private record TaintRuleStrategy(KubernetesVersion version, ExpressionCompiler compiler, MetadataRules metadata)
            implements Strategy {
        /** The time of a taint is that of its effect: a new effect has a new time. */
        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            if (!(JsonTrees.at(next, "spec", "taint") instanceof ObjectNode taint)) {
                return;
            }
            JsonNode before = old == null ? JsonTrees.object() : JsonTrees.at(old, "spec", "taint");
            boolean renewed = version.atLeast(KubernetesVersion.V1_36)
                    && !before.path("effect").equals(taint.path("effect"))
                    && before.path("timeAdded").equals(taint.path("timeAdded"));
            if (!taint.hasNonNull("timeAdded") || renewed) {
                taint.put("timeAdded", metadata.now());
            }
        }

        @Override
        public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
            TaintRuleRules.check(next.path("spec"), compiler, errors);
            if (part == Part.STATUS) {
                TaintRuleRules.checkStatus(next.path("status"), errors);
            }
        }

        /** The warning, from 1.38, for a selector that selects everything (#141831). */
        @Override
        public List<String> warnings(ObjectNode next) {
            JsonNode selector = JsonTrees.at(next, "spec", "deviceSelector");
            boolean selectsAll = selector.isObject() && selector.isEmpty();
            return selectsAll && version.atLeast(KubernetesVersion.V1_38)
                    ? List.of(
                            "spec.deviceSelector: an empty selector matches every device from every driver in the cluster")
                    : List.of();
        }
    }

    /** The strategy of ResourceClaimTemplates: an immutable spec, with the metadata of claims. */
    private record TemplateStrategy(FeatureGates gates, ExpressionCompiler compiler, AdminAccess adminAccess)
            implements Strategy {
        private static final Set<String> METADATA = Set.of("labels", "annotations");

        @Override
        public void prepare(ObjectNode next, @Nullable ObjectNode old, Part part) {
            GatedFields.drop(GatedFields.OF_TEMPLATES, gates, next, old);
            ClaimRules.setDefaults(JsonTrees.at(next, "spec", "spec"));
            ObjectNode spec = JsonTrees.child(next, "spec");
            ObjectNode metadata = JsonTrees.child(spec, "metadata");
            JsonTrees.names(metadata).stream()
                    .filter(name -> isEmpty(metadata.path(name)))
                    .forEach(metadata::remove);
            ClaimForm.ofSpec(spec);
        }

        private static boolean isEmpty(JsonNode value) {
            return value.isContainerNode()
                    ? value.isEmpty()
                    : value.asText().isEmpty() || value.asText().equals("0");
        }

        @Override
        public void validate(ObjectNode next, @Nullable ObjectNode old, Part part, FieldErrors errors) {
            if (old == null) {
                adminAccess.check(next, JsonTrees.at(next, "spec", "spec"), errors);
                Field spec = new Field(next.path("spec"), "spec", errors);
                for (String name : JsonTrees.names(spec.at("metadata").value())) {
                    if (!METADATA.contains(name)) {
                        errors.forbidden(spec.at("metadata").at(name).path(), "cannot be set");
                    }
                }
                ClaimRules.checkSpec(JsonTrees.at(next, "spec", "spec"), "spec.spec", gates, compiler, errors);
            } else if (!next.path("spec").equals(old.path("spec"))) {
                errors.invalid("spec", next.path("spec"), "field is immutable");
            }
        }
    }

    /** Allows admin access only to claims in namespaces with a label. */
    private record AdminAccess(ResourceKinds kinds, ObjectStore store) {
        private static final String LABEL = "resource.kubernetes.io/admin-access";

        /** Checks a claim, or a template, whose messages have the same paths, by the spec of the claim. */
        void check(ObjectNode object, JsonNode claimSpec, FieldErrors errors) {
            JsonNode requests = JsonTrees.at(claimSpec, "devices", "requests");
            for (int i = 0; i < requests.size(); i++) {
                if (wanted(requests.path(i).path("exactly"))) {
                    require(object, "spec.devices.requests[" + i + "].adminAccess", errors);
                    return;
                }
            }
        }

        /** Checks a status, unless the claim has admin access already. */
        void checkStatus(ObjectNode claim, ObjectNode old, FieldErrors errors) {
            JsonNode results = results(claim);
            boolean granted = results(old).valueStream().anyMatch(AdminAccess::wanted);
            for (int i = 0; i < results.size() && !granted; i++) {
                if (wanted(results.path(i))) {
                    require(claim, "status.allocation.devices.results[" + i + "].adminAccess", errors);
                    return;
                }
            }
        }

        private static JsonNode results(JsonNode claim) {
            return JsonTrees.at(claim, "status", "allocation", "devices", "results");
        }

        private static boolean wanted(JsonNode requestOrResult) {
            return requestOrResult.path("adminAccess").asBoolean();
        }

        private void require(ObjectNode object, String field, FieldErrors errors) {
            String name = JsonTrees.text(object, "metadata", "namespace");
            StoredObject namespace =
                    store.find(kinds.namespaces(), kinds.namespaces().key("", name));
            if (namespace == null
                    || !JsonTrees.text(namespace.json(), "metadata", "labels", LABEL)
                            .equals("true")) {
                errors.forbidden(
                        field,
                        "admin access to devices requires the `" + LABEL + ": true` label on the containing namespace");
            }
        }
    }

    /**
     * Normalizes claims to the form in which typed objects are written: empty fields are omitted, except for those that
     * are always present.
     */
    private static final class ClaimForm {
        private ClaimForm() {}

        /** Normalizes the spec of a claim, which its parent has. */
        static void ofSpec(ObjectNode parent) {
            ObjectNode spec = JsonTrees.child(parent, "spec");
            Canonical.dropEmptyLists(spec);
            ObjectNode devices = JsonTrees.child(spec, "devices");
            for (JsonNode request : devices.path("requests")) {
                leaveOutEmpty(request.path("exactly"));
                request.path("firstAvailable").forEach(ClaimForm::leaveOutEmpty);
            }
            writeNull(devices, "requests");
        }

        /** Normalizes the status of a claim. */
        static void ofStatus(ObjectNode claim) {
            if (!(claim.path("status") instanceof ObjectNode status)) {
                return;
            }
            Canonical.dropEmptyLists(status);
            if (status.path("allocation") instanceof ObjectNode allocation) {
                JsonTrees.child(allocation, "devices").path("results").forEach(ClaimForm::leaveOutEmpty);
            }
            for (JsonNode device : status.path("devices")) {
                leaveOut(device.path("networkData"), List.of("interfaceName", "hardwareAddress"));
                leaveOut(device, List.of("data"));
                for (JsonNode condition : device.path("conditions")) {
                    writeText((ObjectNode) condition, "message");
                }
                writeNull((ObjectNode) device, "conditions");
            }
            status.path("reservedFor").forEach(user -> leaveOut(user, List.of("apiGroup")));
        }

        private static void leaveOutEmpty(JsonNode requestOrResult) {
            for (JsonNode toleration : requestOrResult.path("tolerations")) {
                leaveOut(toleration, List.of("key", "value", "effect"));
            }
            JsonNode capacity = requestOrResult.path("capacity");
            if (capacity instanceof ObjectNode object && object.path("requests").isEmpty()) {
                object.remove("requests");
            }
        }

        private static void leaveOut(JsonNode node, List<String> fields) {
            if (node instanceof ObjectNode object) {
                for (String field : fields) {
                    JsonNode value = object.path(field);
                    if (value.isNull() || value.isTextual() && value.asText().isEmpty()) {
                        object.remove(field);
                    }
                }
            }
        }

        private static void writeNull(ObjectNode object, String list) {
            if (!object.hasNonNull(list)) {
                object.putNull(list);
            }
        }

        private static void writeText(ObjectNode object, String field) {
            if (!object.hasNonNull(field)) {
                object.put(field, "");
            }
        }
    }

    /**
     * Drops fields of disabled gates without an error, unless the old object already uses that feature.
     * In paths such as {@code spec.devices.*.taints} a star is every element or value.
     */
    private static final class GatedFields {
        static final Map<FeatureGate, List<String>> OF_SLICES = table("""
                        DRA_DEVICE_TAINTS spec.devices.*.taints
                        DRA_PARTITIONABLE_DEVICES spec.sharedCounters spec.perDeviceNodeSelection
                        DRA_PARTITIONABLE_DEVICES spec.devices.*.consumesCounters
                        DRA_PARTITIONABLE_DEVICES spec.devices.*.nodeName spec.devices.*.nodeSelector
                        DRA_PARTITIONABLE_DEVICES spec.devices.*.allNodes
                        DRA_PARTITIONABLE_DEVICES_TYPE spec.partitionTypeAttribute
                        DRA_DEVICE_BINDING_CONDITIONS spec.devices.*.bindingConditions
                        DRA_DEVICE_BINDING_CONDITIONS spec.devices.*.bindingFailureConditions
                        DRA_DEVICE_BINDING_CONDITIONS spec.devices.*.bindsToNode
                        DRA_CONSUMABLE_CAPACITY spec.devices.*.allowMultipleAllocations
                        DRA_CONSUMABLE_CAPACITY spec.devices.*.capacity.*.requestPolicy
                        DRA_NODE_ALLOCATABLE_RESOURCES spec.devices.*.nodeAllocatableResourceMappings
                        DRA_NODE_ALLOCATABLE_RESOURCES spec.devices.*.nodeAllocatableResources
                        DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.ints
                        DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.bools
                        DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.strings
                        DRA_LIST_TYPE_ATTRIBUTES spec.devices.*.attributes.*.versions
                        DRA_OPTIONAL_NODE_OPERATIONS spec.skipNodeOperations
                        DRA_DEVICE_COMPATIBILITY_GROUPS spec.devices.*.consumesCounters.*.compatibilityGroups
                        DRA_SHARED_CONSUMABLE_CAPACITY spec.sharedCounters.*.counters.*.requestPolicy
                        DRA_SHARED_CONSUMABLE_CAPACITY spec.devices.*.consumesCounters.*.counters.*.valueFrom
                        """);

        private static final String AMOUNT = "spec.devices.*.consumesCounters.*.counters.*.value";

        private static final String CLAIM_SPEC = """
                DRA_ADMIN_ACCESS spec.devices.requests.*.exactly.adminAccess
                DRA_PRIORITIZED_LIST spec.devices.requests.*.firstAvailable
                DRA_CONSUMABLE_CAPACITY spec.devices.requests.*.exactly.capacity
                DRA_CONSUMABLE_CAPACITY spec.devices.requests.*.firstAvailable.*.capacity
                DRA_CONSUMABLE_CAPACITY spec.devices.constraints.*.distinctAttribute
                DRA_DEVICE_TAINTS spec.devices.requests.*.exactly.tolerations
                DRA_DEVICE_TAINTS spec.devices.requests.*.firstAvailable.*.tolerations
                DRA_DERIVED_ATTRIBUTES spec.devices.requests.*.exactly.derivedAttributes
                DRA_DERIVED_ATTRIBUTES spec.devices.requests.*.firstAvailable.*.derivedAttributes
                """;

        static final Map<FeatureGate, List<String>> OF_CLAIMS = table(CLAIM_SPEC + """
                        DRA_ADMIN_ACCESS status.allocation.devices.results.*.adminAccess
                        DRA_RESOURCE_CLAIM_DEVICE_STATUS status.devices
                        DRA_CONSUMABLE_CAPACITY status.allocation.devices.results.*.shareID
                        DRA_CONSUMABLE_CAPACITY status.allocation.devices.results.*.consumedCapacity
                        DRA_DEVICE_BINDING_CONDITIONS status.allocation.devices.results.*.bindingConditions
                        DRA_DEVICE_BINDING_CONDITIONS status.allocation.devices.results.*.bindingFailureConditions
                        DRA_OPTIONAL_NODE_OPERATIONS status.allocation.devices.results.*.skipNodeOperations
                        DRA_SHARED_CONSUMABLE_CAPACITY status.allocation.devices.results.*.consumedCounters
                        """);

        static final Map<FeatureGate, List<String>> OF_TEMPLATES = table(CLAIM_SPEC.replace(" spec.", " spec.spec."));

        static final Map<FeatureGate, List<String>> OF_CLASSES =
                table("DRA_EXTENDED_RESOURCE spec.extendedResourceName");

        private static Map<FeatureGate, List<String>> table(String lines) {
            Map<FeatureGate, List<String>> fields = new EnumMap<>(FeatureGate.class);
            for (String line : lines.lines().toList()) {
                List<String> words = List.of(line.split(" "));
                fields.computeIfAbsent(FeatureGate.valueOf(words.get(0)), gate -> new ArrayList<>())
                        .addAll(words.subList(1, words.size()));
            }
            return fields;
        }

        private GatedFields() {}

        static void drop(
                Map<FeatureGate, List<String>> fields, FeatureGates gates, ObjectNode next, @Nullable ObjectNode old) {
            fields.forEach((gate, paths) -> {
                boolean inUse = old != null && paths.stream().anyMatch(path -> used(old, path));
                if (!gates.enabled(gate) && !inUse) {
                    paths.forEach(path -> remove(next, path));
                }
            });
        }

        static boolean used(JsonNode node, String path) {
            return walk(node, steps(path), (parent, field) -> parent.has(field));
        }

        private static void remove(JsonNode node, String path) {
            walk(node, steps(path), (parent, field) -> {
                parent.remove(field);
                return false;
            });
        }

        private static List<String> steps(String path) {
            return Arrays.asList(path.split("\\."));
        }

        /** Visits every parent of the last step until a visit returns true. */
        private static boolean walk(JsonNode node, List<String> steps, BiPredicate<ObjectNode, String> visit) {
            if (steps.size() == 1) {
                return node instanceof ObjectNode parent && visit.test(parent, steps.get(0));
            }
            List<String> rest = steps.subList(1, steps.size());
            if (!steps.get(0).equals("*")) {
                return walk(node.path(steps.get(0)), rest, visit);
            }
            return node.valueStream().anyMatch(child -> walk(child, rest, visit));
        }
    }
}
