// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.NodeOperation;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.OwnNames;
import io.dra4j.runtime.internal.cluster.NodeAllocatableCodec;
import io.dra4j.runtime.internal.cluster.SliceCodec;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.validate.Findings.Field;
import io.dra4j.runtime.internal.validate.StricterDeviceRules.CounterRules;
import io.dra4j.runtime.internal.validate.StricterDeviceRules.SelectorRules;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules for a pool: those of API servers, in their words, and those of drivers, which are stricter where a server
 * accepts what can never work.
 *
 * <p>Pure; accepts any pool that a provider can build, and never throws.
 *
 * @param book returns the errors for which a server of a release would refuse a slice
 * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/resource/resource-slice-v1/"> ResourceSlice</a>
 */
public record PoolRules(String driver, BiFunction<Content, FeatureGates, List<FieldError>> book) {

    /**
     * Checks a pool against the rules for drivers, and against those of the newest release with all gates on, which has
     * all fields that a pool can have.
     *
     * @return its problems, the first hundred; empty if it can be published, or another component publishes it
     */
    public List<Problem> problems(Pool pool) {
        return problems(pool, new HashMap<>());
    }

    /** Checks a pool also against the physical ids of other pools' devices, and adds its own to them. */
    public List<Problem> problems(Pool pool, Map<String, String> hardware) {
        return verdict(pool, new Findings(pool.name(), false), hardware).problems();
    }

    /** Checks a pool against the same rules, and finds all devices that break one. */
    public PoolVerdict verdict(Pool pool) {
        return verdict(pool, new Findings(pool.name(), true), new HashMap<>());
    }

    private PoolVerdict verdict(Pool pool, Findings findings, Map<String, String> hardware) {
        if (!(pool.placement() instanceof Placement.PublishedElsewhere)) {
            check(pool, findings, hardware);
        }
        return findings.verdict();
    }

    /**
     * Checks the part of a pool that is sent against the rules of one server.
     *
     * @param sent the pool without the fields that the server drops
     * @param gates the server's release and gates
     * @param besides returns the counter sets that the server requires in one slice with a device
     * @return what the server would refuse
     */
    public PoolVerdict refusals(Pool sent, FeatureGates gates, Function<Device, List<CounterSet>> besides) {
        Findings findings = new Findings(sent.name(), true);
        ServerRules rules = new ServerRules(book, gates, sent, findings);
        rules.checkPool();
        sent.devices().forEach(device -> rules.check(device, besides.apply(device)));
        return findings.verdict();
    }

    private void check(Pool pool, Findings findings, Map<String, String> hardware) {
        WrittenForm.check(findings, pool.placement());
        Field sets = Field.ofPool(findings, "sharedCounters");
        pool.counterSets().forEach(set -> WrittenForm.rawFields(sets.key(set.name()), set.rawFields()));
        boolean isWritten = findings.count() == 0;
        SelectorRules.check(Field.ofPool(findings, "nodeSelector"), pool.placement());
        CounterRules counters = new CounterRules(findings, pool.counterSets());
        ServerRules rules = ServerRules.newest(book, pool, findings);
        if (isWritten) {
            rules.checkPool();
        }
        OwnNames own = new OwnNames(driver);
        Set<DeviceName> names = new HashSet<>();
        for (Device device : pool.devices()) {
            if (findings.isFull()) {
                return;
            }
            Field field = Field.ofDevice(findings, device.name());
            if (!names.add(device.name())) {
                field.refuse("must be the only device of its name in the pool; two have it", device.name());
            }
            String id = device.physicalId();
            String same = id == null ? null : hardware.putIfAbsent(id, pool.name() + "/" + device.name());
            if (same != null) {
                field.child("physicalId").refuse("must differ from that of device " + same, id);
            }
            boolean isDeviceWritten = WrittenForm.check(field, device);
            StricterDeviceRules.check(field, device, counters, own);
            if (isWritten && isDeviceWritten) {
                rules.check(NodeAllocatableCodec.inNewestShape(device), List.of());
            }
        }
    }

    /**
     * The rules of an API server for a pool: the pool itself, each counter set and each device are
     * checked in a separate slice, in the form in which they are sent.
     *
     * @param book returns the errors for which a server of a release would refuse a slice
     * @param gates the server's release and gates
     */
    private record ServerRules(
            BiFunction<Content, FeatureGates, List<FieldError>> book,
            FeatureGates gates,
            Pool pool,
            Findings findings) {

        private static final FeatureGates ALL_FIELDS = FeatureGates.allOn(KubernetesVersion.newest());

        private static final String SPEC = "spec.";
        private static final String DEVICES = "spec.devices";
        private static final String DEVICE = DEVICES + "[0]";
        private static final String COUNTER_SET = "spec.sharedCounters[0]";

        /** The rules of the newest release, whose fields are all those that a pool can have. */
        static ServerRules newest(
                BiFunction<Content, FeatureGates, List<FieldError>> book, Pool pool, Findings findings) {
            return new ServerRules(book, ALL_FIELDS, pool, findings);
        }

        /** Checks everything except the devices. */
        void checkPool() {
            check(null, List.of(), "");
            List<CounterSet> sets = pool.counterSets();
            for (int i = 0; i < sets.size(); i++) {
                check(null, List.of(sets.get(i)), "sharedCounters[" + i + "]");
            }
        }

        /**
         * Checks a device.
         *
         * @param besides the counter sets in its slice, which are checked with the pool
         */
        void check(Device device, List<CounterSet> besides) {
            if (!findings.isFull()) {
                check(device, besides, "");
            }
        }

        private void check(@Nullable Device device, List<CounterSet> sets, String shownSet) {
            for (FieldError error : errors(device, sets)) {
                String field = error.field();
                if (device != null && field.startsWith(DEVICE)) {
                    String shown = "devices[" + device.name() + "]";
                    findings.add(device.name(), shown + after(DEVICE, field), error.message());
                } else if (!field.startsWith(COUNTER_SET)) {
                    boolean isOfDevice = device != null && field.startsWith(DEVICES); // the only one in the slice
                    findings.add(isOfDevice ? device.name() : null, after(SPEC, field), error.message());
                } else if (!shownSet.isEmpty()) {
                    findings.add(null, shownSet + after(COUNTER_SET, field), error.message());
                }
            }
        }

        private static String after(String prefix, String field) {
            return field.startsWith(prefix) ? field.substring(prefix.length()) : field;
        }

        private List<FieldError> errors(@Nullable Device device, List<CounterSet> sets) {
            List<Device> devices = device == null ? List.of() : List.of(device);
            boolean isPartition = device != null && !device.consumesCounters().isEmpty();
            Content content = new Content(pool.name(), 1, 1, pool.placement(), devices, sets)
                    .with(
                            isPartition ? pool.partitionTypeAttribute() : null,
                            pool.skipNodeOperations().stream()
                                    .map(NodeOperation::apiName)
                                    .toList());
            return book.apply(content, gates);
        }
    }

    /** The rules for what must hold before a pool can be written as slices at all. */
    static final class WrittenForm {

        private static final Pattern FIELD_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9]{0,62}");

        private static final JsonMapper MAPPER = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();

        private WrittenForm() {}

        /** A server accepts a pool on any named node, but this driver's pools are on its own node. */
        static void check(Findings findings, Placement placement) {
            if (placement instanceof Placement.NamedNode named) {
                Field.ofPool(findings, "nodeName")
                        .refuse(
                                "must be absent: either the pool names this node, or each device names its own node",
                                named.name());
            }
        }

        /** Returns whether a device can be written; adds problems if not. */
        static boolean check(Field field, Device device) {
            boolean isWritten = placement(field, device.placement());
            for (Map.Entry<String, AttributeValue> attribute :
                    device.attributes().entrySet()) {
                Field here = field.child("attributes").key(attribute.getKey());
                isWritten &= list(here, attribute.getValue());
            }
            for (Map.Entry<String, String> raw : device.rawFields().entrySet()) {
                isWritten &= rawField(field, raw.getKey(), raw.getValue());
            }
            for (CounterConsumption consumption : device.consumesCounters()) {
                isWritten &= rawFields(
                        field.child("consumesCounters").key(consumption.counterSet()), consumption.rawFields());
            }
            return isWritten;
        }

        /** An empty list is not a value of the API. */
        private static boolean list(Field field, AttributeValue value) {
            boolean isEmpty = value instanceof AttributeValue.OfStrings texts
                            && texts.values().isEmpty()
                    || value instanceof AttributeValue.OfVersions versions
                            && versions.values().isEmpty()
                    || value instanceof AttributeValue.OfInts numbers
                            && numbers.values().isEmpty()
                    || value instanceof AttributeValue.OfBools truths
                            && truths.values().isEmpty();
            if (isEmpty) {
                field.child(SliceCodec.typeOf(value)).refuse("must not be empty", List.of());
            }
            return !isEmpty;
        }

        private static boolean placement(Field device, @Nullable Placement placement) {
            if (placement instanceof Placement.ThisNode
                    || placement instanceof Placement.PerDevice
                    || placement instanceof Placement.PublishedElsewhere) {
                device.refuse(
                        "must be on a named node, on matching nodes or on all nodes, if its pool has"
                                + " PerDevice placement, and otherwise where its pool is",
                        placement);
                return false;
            }
            return true;
        }

        /** Only the API server knows the meaning of a field that the SDK has no type for. */
        private static boolean rawField(Field device, String name, String json) {
            if (!FIELD_NAME.matcher(name).matches()) {
                device.child("rawFields").refuse("must be named like a field of the API", name);
                return false;
            }
            Field field = device.child(name);
            if (SliceCodec.isTyped(name)) {
                field.refuse("must be set by its own method, not as a raw field", json);
                return false;
            }
            return value(field, json) != null;
        }

        /** Returns whether the further fields of counters can be written; adds problems if not. */
        static boolean rawFields(Field counters, Map<String, String> rawFields) {
            boolean isWritten = true;
            for (Map.Entry<String, String> raw : rawFields.entrySet()) {
                JsonNode fields = value(counters.key(raw.getKey()), raw.getValue());
                if (fields != null && (!fields.isObject() || fields.has("value"))) {
                    counters.key(raw.getKey()).refuse("must be a JSON object without an amount", raw.getValue());
                    fields = null;
                }
                isWritten &= fields != null;
            }
            return isWritten;
        }

        private static @Nullable JsonNode value(Field field, String json) {
            try {
                JsonNode value = MAPPER.readTree(json);
                if (value.isMissingNode() || value.isNull()) {
                    field.refuse("must be a JSON value other than null", json);
                    return null;
                }
                return value;
            } catch (JsonProcessingException e) {
                field.refuse("must be JSON (" + Shown.name(e.getOriginalMessage()) + ")", json);
                return null;
            }
        }
    }
}
