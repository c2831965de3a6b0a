// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Rules for one device of a slice. */
record DeviceRules(FeatureGates gates, SliceLimits limits, CounterRules counters) {
    private static final List<String> PLACEMENTS = List.of("nodeName", "nodeSelector", "allNodes");
    static final List<String> EFFECTS = List.of("NoExecute", "NoSchedule", "None");
    private static final String PREPARE = "NodePrepareResources";
    private static final String UNPREPARE = "NodeUnprepareResources";

    /** Returns whether the device lowers the limit of its slice. */
    static boolean isComplex(JsonNode device) {
        return !device.path("taints").isEmpty()
                || !device.path("consumesCounters").isEmpty()
                || AttributeRules.hasList(device.path("attributes"));
    }

    static void checkDriver(Field driver) {
        if (driver.requireText()) {
            driver.requireLength(Names.DRIVER_LENGTH);
            driver.requireForm(Names::driverProblems);
        }
    }

    static void checkDeviceName(Field name) {
        name.requireForm(Names::dnsLabelProblems);
    }

    /** Checks the calls of the kubelet that devices do not need. */
    static void checkSkippedOperations(Field skipped) {
        Set<String> seen = new HashSet<>();
        for (Field operation : skipped.items()) {
            operation.requireOneOf(List.of("*", PREPARE, UNPREPARE));
            operation.requireUnique(seen);
        }
        boolean stuck = seen.contains(PREPARE) && !seen.contains(UNPREPARE) && !seen.contains("*");
        String rule = PREPARE + " cannot be skipped unless " + UNPREPARE + " is also skipped";
        skipped.requireThat(!stuck, skipped.value().toString(), rule);
    }

    /**
     * Checks a device.
     *
     * @param old the device that it replaces, whose taints are not checked again; from 1.38 the one of the same name
     */
    void check(Field device, JsonNode old, boolean perDevice) {
        KubernetesVersion version = gates.version();
        AttributeKeys names = new AttributeKeys(version);
        AttributeKeys keys = old.isObject() ? names.asStored() : names;
        checkDeviceName(device.at("name"));
        checkNumbers(device);
        new AttributeRules(keys).check(device.at("attributes"));
        boolean sameCapacity = old.path("capacity").equals(device.at("capacity").value());
        if (!old.isObject() || !sameCapacity || !version.atLeast(KubernetesVersion.V1_37)) {
            new CapacityRules(gates).check(device);
        }
        if (!old.isObject() || !old.path("taints").equals(device.at("taints").value())) {
            checkTaints(device.at("taints"));
        }
        counters.checkConsumed(device);
        checkPlacement(device, perDevice);
        if (perDevice && version.atLeast(KubernetesVersion.V1_38) && !old.isObject()) { // #141213
            NodeRules.requireOneTerm(device.at("nodeSelector"));
        }
        BindingRules.check(device);
        new NodeAllocatableRules(keys).check(device);
    }

    private void checkNumbers(Field device) {
        int keys = device.at("attributes").size() + device.at("capacity").size();
        device.requireTotal(keys, "attributes and capacities", SliceLimits.ATTRIBUTES_AND_CAPACITIES);
        int values = AttributeRules.values(device.at("attributes").value());
        device.requireTotal(values, "attribute values", limits.attributeValues());
    }

    private void checkTaints(Field taints) {
        if (taints.requireAtMost(limits.taints())) {
            taints.items().forEach(DeviceRules::checkTaint);
        }
    }

    static void checkTaint(Field taint) {
        taint.at("key").requireForm(Names::qualifiedNameProblems);
        taint.at("value").requireForm(Names::labelValueProblems);
        if (taint.at("effect").requireText()) {
            taint.at("effect").requireOneOf(EFFECTS);
        }
    }

    private void checkPlacement(Field device, boolean perDevice) {
        boolean placed = PLACEMENTS.stream().anyMatch(field -> device.at(field).present());
        if (!perDevice && placed) {
            device.invalidNull("`nodeName`, `nodeSelector` and `allNodes` can only be set if"
                    + " `perDeviceNodeSelection` is set to true in the ResourceSlice spec");
        } else if (perDevice) {
            checkOnePlacement(device);
        }
    }

    private void checkOnePlacement(Field device) {
        Field name = device.at("nodeName");
        if (name.present() && name.text().isEmpty()) {
            name.invalid("must not be empty");
        }
        List<String> chosen = NodeRules.checkChosen(device);
        String rule = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when"
                + " `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
        if (chosen.isEmpty()) {
            device.required(rule);
        } else {
            device.requireThat(chosen.size() == 1, "{" + String.join(", ", chosen) + "}", rule);
        }
    }

    private record AttributeRules(AttributeKeys keys) {
        private static final List<String> SCALARS = List.of("bool", "int", "string", "version");
        private static final List<String> LISTS = List.of("bools", "ints", "strings", "versions");
        private static final int TEXT_LENGTH = 64;

        /** The longer form comes first, because a matched part of a version is not tried again. */
        private static final String PRE_RELEASE = "(\\d*[A-Za-z-][0-9A-Za-z-]*|0|[1-9]\\d*)";

        /** Semantic Versioning 2.0.0, without the optional leading v. */
        private static final Pattern SEMVER = Pattern.compile("(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)"
                + "(-%1$s(\\.%1$s)*+)?".formatted(PRE_RELEASE)
                + "(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*+)?");

        /** Returns whether any attribute is a list, even an empty one. */
        static boolean hasList(JsonNode attributes) {
            for (JsonNode attribute : attributes) {
                for (String list : LISTS) {
                    if (attribute.has(list)) {
                        return true;
                    }
                }
            }
            return false;
        }

        /** Returns the number of values, counting each item of a list. */
        static int values(JsonNode attributes) {
            int values = 0;
            for (JsonNode attribute : attributes) {
                int items = 0;
                for (String list : LISTS) {
                    items += attribute.path(list).size();
                }
                values += Math.max(items, 1);
            }
            return values;
        }

        void check(Field attributes) {
            for (String key : attributes.keys()) {
                checkValue(keys.checked(attributes, key));
            }
        }

        private static void checkValue(Field attribute) {
            for (String type : SCALARS) {
                if (attribute.value().has(type)) {
                    checkText(type, attribute.at(type));
                }
            }
            for (String type : LISTS) {
                if (attribute.value().has(type)) {
                    checkList(type, attribute.at(type));
                }
            }
            if (attribute.size() != 1) {
                Object shown = attribute.size() == 0 ? "" : attribute.value();
                attribute.invalid(shown, "exactly one value must be specified");
            }
        }

        private static void checkList(String type, Field list) {
            if (list.size() == 0) {
                list.invalidValue("must not be empty if specified");
            }
            list.items().forEach(item -> checkText(type, item));
        }

        private static void checkText(String type, Field field) {
            if (type.startsWith("version")) {
                boolean valid = SEMVER.matcher(field.text()).matches();
                field.requireThat(valid, "must be a string compatible with semver.org spec 2.0.0");
            }
            if (field.value().isTextual()) {
                field.requireLength(TEXT_LENGTH);
            }
        }
    }

    /** Rules for what a device takes from the node's allocatable resources, in both shapes. */
    private record NodeAllocatableRules(AttributeKeys names) {
        private static final String POSITIVE = "must be greater than zero";

        void check(Field device) {
            Field mappings = device.at("nodeAllocatableResourceMappings");
            for (String name : mappings.keys()) {
                checkName(name, mappings.key(name));
                checkMapping136(device, mappings.key(name));
            }
            Field resources = device.at("nodeAllocatableResources");
            for (String name : resources.keys()) {
                checkName(name, resources.key(name));
                checkResource(device, resources.key(name));
            }
        }

        private static void checkName(String name, Field resource) {
            boolean isNative = !name.contains("/") || name.startsWith("kubernetes.io/");
            resource.requireThat(isNative, name, "must be a native resource name");
        }

        /** The shape of 1.36, which the next release no longer has. */
        private static void checkMapping136(Field device, Field mapping) {
            requireSign(mapping.at("allocationMultiplier"), 1, POSITIVE);
            Field key = mapping.at("capacityKey");
            boolean known = key.text().isEmpty() || isCapacity(device, key);
            key.requireThat(known, "must be a key of the device's capacity");
        }

        private void checkResource(Field device, Field resource) {
            Field mapping = resource.at("mapping");
            Field overhead = resource.at("overhead");
            if (!mapping.present() && !overhead.present()) {
                resource.required("at least one of `mapping` and `overhead` must be set");
            }
            if (mapping.present()) {
                checkMapping(device, mapping);
            }
            if (overhead.present()) {
                checkOverhead(overhead);
            }
        }

        private void checkMapping(Field device, Field mapping) {
            Field key = mapping.at("capacityKey");
            Field ofCapacity = mapping.at("capacityMultiplier");
            Field ofDevice = mapping.at("deviceMultiplier");
            boolean one = key.present() != ofDevice.present();
            String rule = "exactly one of `capacityKey` and `deviceMultiplier` must be set";
            mapping.requireThat(one || ofCapacity.present() && !key.present(), "", rule);
            if (key.present() && key.text().isEmpty()) {
                key.invalid("must not be empty");
            } else if (key.present() && names.checkLate(key.text(), key) && !isCapacity(device, key)) {
                key.errors().notFound(key.path(), key.text());
            }
            if (key.present() && !ofCapacity.present()) {
                ofCapacity.required("required when `capacityKey` is set");
            } else if (ofCapacity.present() && !key.present()) {
                key.required("required when `capacityMultiplier` is set");
            }
            requireSign(ofCapacity, 1, POSITIVE);
            requireSign(ofDevice, 1, POSITIVE);
        }

        private static void checkOverhead(Field overhead) {
            Field perPod = overhead.at("perPod");
            Field perContainer = overhead.at("perContainer");
            boolean any = perPod.present() || perContainer.present();
            overhead.requireThat(any, "", "at least one of `perPod` and `perContainer` must be set");
            requireSign(perPod, 0, "must be greater than or equal to zero");
            requireSign(perContainer, 0, "must be greater than or equal to zero");
        }

        private static boolean isCapacity(Field device, Field key) {
            return device.at("capacity").value().has(key.text());
        }

        private static void requireSign(Field quantity, int least, String rule) {
            boolean fits =
                    !quantity.present() || Quantities.exact(quantity.text()).signum() >= least;
            quantity.requireThat(fits, rule);
        }
    }
}
