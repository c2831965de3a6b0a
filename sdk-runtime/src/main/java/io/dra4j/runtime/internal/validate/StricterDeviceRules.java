// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Capacity;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.NodeAllocatableResource;
import io.dra4j.api.device.NodeAllocatableResource.Mapping;
import io.dra4j.api.device.NodeAllocatableResource.OfCapacity;
import io.dra4j.api.device.NodeAllocatableResource.OfDevice;
import io.dra4j.api.device.NodeAllocatableResource.Overhead;
import io.dra4j.api.device.NodeSelector;
import io.dra4j.api.device.NodeSelector.Operator;
import io.dra4j.api.device.NodeSelector.Requirement;
import io.dra4j.api.device.NodeSelector.Subject;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.device.RequestPolicy;
import io.dra4j.api.device.RequestPolicy.ValidRange;
import io.dra4j.api.device.Taint;
import io.dra4j.rules.OwnNames;
import io.dra4j.runtime.internal.validate.Findings.Field;
import io.dra4j.runtime.internal.validate.StricterDeviceRules.AmountRules;
import java.math.BigDecimal;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The rules for a device that are narrower than an API server's. */
final class StricterDeviceRules {

    /** The API server treats the first second of year 1 as no time. */
    private static final Instant FIRST = Instant.parse("0001-01-01T00:00:01Z");

    private static final Instant END = Instant.parse("9999-12-31T23:59:59Z").plusSeconds(1);

    private StricterDeviceRules() {}

    static void check(Field field, Device device, CounterRules counters, OwnNames names) {
        oneForm(field.child("attributes"), device.attributes().keySet(), names);
        oneForm(field.child("capacity"), device.capacities().keySet(), names);
        device.attributes()
                .forEach((name, value) -> text(field.child("attributes").key(name), value));
        AmountRules.check(field, device);
        counters.check(field.child("consumesCounters"), device.consumesCounters());
        times(field.child("taints"), device.taints());
        SelectorRules.check(field.child("nodeSelector"), device.placement());
    }

    /** Servers and schedulers differ in which of the two they find. */
    private static void oneForm(Field field, Set<String> all, OwnNames names) {
        for (String name : all) {
            String bare = names.bare(name);
            if (!bare.equals(name) && all.contains(bare)) {
                field.key(name).refuse("must not be used with " + Shown.name(bare) + ", which is the same name", name);
            }
        }
    }

    private static void text(Field field, AttributeValue value) {
        if (value instanceof AttributeValue.OfString text) {
            isUnicode(field.child("string"), text.value());
        } else if (value instanceof AttributeValue.OfStrings texts) {
            for (int i = 0; i < texts.values().size(); i++) {
                isUnicode(field.child("strings").item(i), texts.values().get(i));
            }
        }
    }

    /** Half of a surrogate pair reaches the server as another character. */
    private static void isUnicode(Field field, String text) {
        try {
            StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        } catch (CharacterCodingException e) {
            field.refuse("must be valid Unicode", text);
        }
    }

    private static void times(Field field, List<Taint> taints) {
        for (int i = 0; i < taints.size(); i++) {
            Instant time = taints.get(i).timeAdded();
            if (time != null && (time.isBefore(FIRST) || !time.isBefore(END))) {
                field.item(i).child("timeAdded").refuse("must be in the years 1 to 9999", time);
            }
        }
    }

    /**
     * Amounts that the API server keeps as they are.
     *
     * <p>It rounds amounts finer than a billionth; values beyond 64 bits are truncated, or serialized in a form that it
     * cannot parse: a slice with such an amount would never equal what the driver wants.
     *
     * @see <a href="https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/"> Quantity</a>
     */
    static final class AmountRules {

        private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

        private AmountRules() {}

        static void check(Field device, Device checked) {
            Field capacities = device.child("capacity");
            checked.capacities().forEach((name, it) -> capacity(capacities.key(name), it));
            Field resources = device.child("nodeAllocatableResources");
            checked.nodeAllocatableResources().forEach((name, it) -> resource(resources.key(name), it));
        }

        private static void capacity(Field field, Capacity capacity) {
            isKept(field.child("value"), capacity.value());
            if (capacity.requestPolicy() != null) {
                policy(field.child("requestPolicy"), capacity.requestPolicy());
                lonelyDefault(field, capacity.value(), capacity.requestPolicy());
            }
        }

        /** A server compares a default only with the values or the range next to it. */
        private static void lonelyDefault(Field field, Quantity capacity, RequestPolicy policy) {
            Quantity standard = policy.defaultValue();
            if (standard != null
                    && policy.validValues().isEmpty()
                    && policy.validRange() == null
                    && standard.compareTo(capacity) > 0) {
                field.child("requestPolicy")
                        .child("default")
                        .refuse("must be at most the capacity, " + capacity, standard);
            }
        }

        private static void policy(Field field, RequestPolicy policy) {
            isKeptAndNotNegative(field.child("default"), policy.defaultValue());
            List<Quantity> values = policy.validValues();
            for (int i = 0; i < values.size(); i++) {
                isKeptAndNotNegative(field.child("validValues").item(i), values.get(i));
            }
            ValidRange range = policy.validRange();
            if (range != null) {
                Field here = field.child("validRange");
                isKeptAndNotNegative(here.child("min"), range.min());
                isKeptAndNotNegative(here.child("max"), range.max());
                isKept(here.child("step"), range.step());
            }
        }

        private static void resource(Field field, NodeAllocatableResource resource) {
            Mapping mapping = resource.mapping();
            if (mapping instanceof OfCapacity of) {
                isKept(field.child("mapping").child("capacityMultiplier"), of.multiplier());
            } else if (mapping instanceof OfDevice of) {
                isKept(field.child("mapping").child("deviceMultiplier"), of.multiplier());
            }
            Overhead overhead = resource.overhead();
            if (overhead != null) {
                isKept(field.child("overhead").child("perPod"), overhead.perPod());
                isKept(field.child("overhead").child("perContainer"), overhead.perContainer());
            }
        }

        /** Returns whether an amount, if there is one, is kept; adds a problem if not. */
        private static boolean isKept(Field field, @Nullable Quantity quantity) {
            if (quantity == null) {
                return true;
            }
            BigDecimal amount = quantity.amount();
            if (amount.stripTrailingZeros().scale() > 9) {
                field.refuse("must be a whole number of billionths", quantity);
                return false;
            }
            if (amount.abs().compareTo(MOST) > 0) {
                field.refuse("must be at most " + MOST + ", in any unit", quantity);
                return false;
            }
            return true;
        }

        /** Checks an amount that the server also accepts if negative. */
        static void isKeptAndNotNegative(Field field, @Nullable Quantity quantity) {
            if (isKept(field, quantity) && quantity != null && quantity.amount().signum() < 0) {
                field.refuse("must not be negative", quantity);
            }
        }
    }

    /**
     * The rules for node selectors that an API server accepts, but that match no node.
     *
     * @see <a href="https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/">Assigning
     *     Pods to Nodes: operators</a>
     */
    static final class SelectorRules {

        /** All numbers of this form fit 64 bits, and no label needs more digits. */
        private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

        private SelectorRules() {}

        static void check(Field field, @Nullable Placement placement) {
            if (placement instanceof Placement.MatchingNodes matching) {
                check(field.child("nodeSelectorTerms").item(0), matching.selector());
            }
        }

        private static void check(Field term, NodeSelector selector) {
            if (selector.requirements().isEmpty()) {
                term.refuse("must have a requirement, as it matches no node without one", List.of());
            }
            List<Requirement> ofLabels = selector.requirements().stream()
                    .filter(requirement -> requirement.subject() == Subject.LABEL)
                    .toList();
            for (int i = 0; i < ofLabels.size(); i++) {
                number(term.child("matchExpressions").item(i).child("values"), ofLabels.get(i));
            }
        }

        private static void number(Field field, Requirement requirement) {
            Operator operator = requirement.operator();
            List<String> values = requirement.values();
            if ((operator == Operator.GREATER_THAN || operator == Operator.LESS_THAN)
                    && values.size() == 1
                    && !NUMBER.matcher(values.get(0)).matches()) {
                field.refuse("must be one whole number with " + operator.apiName(), values);
            }
        }
    }

    /** The rules for counters over the whole pool, of which a server sees one slice at a time. */
    static final class CounterRules {

        private final Map<String, CounterSet> sets = new HashMap<>();

        /** Checks the sets themselves, and keeps them to resolve references. */
        CounterRules(Findings findings, List<CounterSet> counterSets) {
            for (int i = 0; i < counterSets.size(); i++) {
                CounterSet set = counterSets.get(i);
                Field field = Field.ofPool(findings, "sharedCounters").item(i);
                if (sets.putIfAbsent(set.name(), set) != null) {
                    field.refuse("must have a name that is unique in the pool", set.name());
                }
                amounts(field.child("counters"), set.counters());
            }
        }

        void check(Field field, List<CounterConsumption> consumptions) {
            for (int i = 0; i < consumptions.size(); i++) {
                CounterConsumption consumption = consumptions.get(i);
                amounts(field.item(i).child("counters"), consumption.counters());
                resolve(field.item(i), consumption);
            }
        }

        private static void amounts(Field field, Map<String, Quantity> counters) {
            counters.forEach((name, amount) ->
                    AmountRules.isKeptAndNotNegative(field.key(name).child("value"), amount));
        }

        private void resolve(Field field, CounterConsumption consumption) {
            CounterSet set = sets.get(consumption.counterSet());
            if (set == null) {
                field.child("counterSet").refuse("must be a counter set of the pool", consumption.counterSet());
                return;
            }
            Set<String> names = new LinkedHashSet<>(consumption.counters().keySet());
            names.addAll(consumption.rawFields().keySet());
            names.forEach(name -> fits(
                    field.child("counters").key(name),
                    set,
                    name,
                    consumption.counters().get(name)));
        }

        /** A device that takes more than there is can never be allocated. */
        private static void fits(Field field, CounterSet set, String name, @Nullable Quantity amount) {
            Quantity there = set.counters().get(name);
            if (there == null) {
                field.refuse("must be a counter of the counter set " + Shown.name(set.name()), name);
            } else if (amount != null && amount.compareTo(there) > 0) {
                field.child("value")
                        .refuse(
                                "must be at most what the counter set %s has, %s"
                                        .formatted(Shown.name(set.name()), there),
                                amount);
            }
        }
    }
}
