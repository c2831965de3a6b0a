// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** What is published, when it is looked at, and how failures are met. */
final class SliceFaults {

    private static final long NEVER = 1_000_000_000;

    private SliceFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-69a" -> {
                parts.plan = OtherNode::new;
                parts.publisher = OfOtherNode::new;
            }
            case "M-69b" -> parts.plan = Everywhere::new;
            case "M-70a" -> parts.plan = Unsplit::new;
            case "M-71a" -> parts.plan = Miscounted::new;
            case "M-71b" -> parts.plan = Mixed::new;
            case "M-72" -> parts.plan = SameGeneration::new;
            case "M-75b" -> parts.publisher = CleanStart::new;
            case "M-76" -> parts.publisher = OnceOnly::new;
            case "M-77" -> {
                parts.plan = OwnNames::new;
                parts.publisher = WithoutList::new;
            }
            case "M-78" -> {
                parts.plan = OnlyOneNode::new;
                parts.publisher = OfAllNodes::new;
            }
            case "M-79a" -> parts.publisher = driver -> new Delicate(driver, 409);
            case "M-79b" -> parts.publisher = driver -> new Delicate(driver, 500);
            case "M-80" -> parts.publisher = Hot::new;
            case "M-81" -> parts.publisher = OneWatch::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class OtherNode extends SlicePlan {
        OtherNode(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode placement(ObjectNode spec) {
            return spec.put("nodeName", driver.settings.node() + "-other");
        }
    }

    private static final class OfOtherNode extends Publisher {
        OfOtherNode(BareDriver driver) {
            super(driver);
        }

        @Override
        String selector() {
            return selected(
                    "spec.nodeName="
                            + driver.settings.node()
                            + "-other,spec.driver="
                            + driver.settings.driver());
        }
    }

    private static String selected(String fields) {
        return URLEncoder.encode(fields, StandardCharsets.UTF_8);
    }

    private static final class Everywhere extends SlicePlan {
        Everywhere(BareDriver driver) {
            super(driver);
        }

        @Override
        ObjectNode placement(ObjectNode spec) {
            return super.placement(spec).put("allNodes", true);
        }
    }

    private static final class Unsplit extends SlicePlan {
        Unsplit(BareDriver driver) {
            super(driver);
        }

        @Override
        int mostDevices() {
            return Integer.MAX_VALUE;
        }
    }

    private static final class Miscounted extends SlicePlan {
        Miscounted(BareDriver driver) {
            super(driver);
        }

        @Override
        boolean isConsistent(List<JsonNode> slices, int count) {
            return super.isConsistent(slices, count + 1);
        }

        @Override
        ObjectNode pool(String name, long generation, int count) {
            return super.pool(name, generation, count + 1);
        }
    }

    /** Every slice counts its generations for itself. */
    private static final class Mixed extends SlicePlan {
        Mixed(BareDriver driver) {
            super(driver);
        }

        @Override
        boolean isConsistent(List<JsonNode> slices, int count) {
            return slices.size() == count;
        }

        @Override
        JsonNode write(
                String pool,
                JsonNode place,
                ObjectNode wanted,
                long generation,
                int index,
                int count) {
            return super.write(pool, place, wanted, generation + index, index, count);
        }
    }

    private static final class SameGeneration extends SlicePlan {
        SameGeneration(BareDriver driver) {
            super(driver);
        }

        @Override
        long nextGeneration(List<JsonNode> existing) {
            return Math.max(1, generation(existing));
        }
    }

    private static final class CleanStart extends Publisher {
        private boolean clean;

        CleanStart(BareDriver driver) {
            super(driver);
        }

        @Override
        void round() {
            if (!clean) {
                existing().forEach(plan::delete);
                clean = true;
            }
            super.round();
        }
    }

    private static final class OnceOnly extends Publisher {
        OnceOnly(BareDriver driver) {
            super(driver);
        }

        @Override
        void watch() {}

        @Override
        void awaitWork() {
            Pauses.forEver();
        }
    }

    private static final class OwnNames extends SlicePlan {
        private final Set<String> names = ConcurrentHashMap.newKeySet();

        OwnNames(BareDriver driver) {
            super(driver);
        }

        @Override
        JsonNode write(
                String pool,
                JsonNode place,
                ObjectNode wanted,
                long generation,
                int index,
                int count) {
            JsonNode written = super.write(pool, place, wanted, generation, index, count);
            names.add(name(written));
            return written;
        }
    }

    /** Knows the slices alone that it has made itself since its start. */
    private static final class WithoutList extends Publisher {
        WithoutList(BareDriver driver) {
            super(driver);
        }

        @Override
        List<JsonNode> existing() {
            Set<String> own = ((OwnNames) plan).names;
            return own.isEmpty()
                    ? List.of()
                    : super.existing().stream()
                            .filter(slice -> own.contains(SlicePlan.name(slice)))
                            .toList();
        }
    }

    private static final class OfAllNodes extends Publisher {
        OfAllNodes(BareDriver driver) {
            super(driver);
        }

        @Override
        String selector() {
            return selected("spec.driver=" + driver.settings.driver());
        }
    }

    private static final class OnlyOneNode extends SlicePlan {
        OnlyOneNode(BareDriver driver) {
            super(driver);
        }

        @Override
        void apply(List<JsonNode> existing) {
            var byPlace =
                    existing.stream()
                            .collect(
                                    Collectors.partitioningBy(
                                            slice ->
                                                    slice.at("/spec/nodeName")
                                                            .asText()
                                                            .equals(driver.settings.node())));
            byPlace.get(false).forEach(this::delete);
            super.apply(byPlace.get(true));
        }
    }

    private static final class Delicate extends Publisher {
        private final int deadly;

        Delicate(BareDriver driver, int deadly) {
            super(driver);
            this.deadly = deadly;
        }

        @Override
        void failed(ApiClient.Failed problem) {
            if (problem.status == deadly) {
                Life.current().say("fatal: " + problem.getMessage());
                Life.current().end(1);
            }
            super.failed(problem);
        }
    }

    private static final class Hot extends Publisher {
        Hot(BareDriver driver) {
            super(driver);
        }

        @Override
        void failed(ApiClient.Failed problem) {
            if (problem.status == 422) {
                Pauses.millis(100);
            } else {
                super.failed(problem);
            }
        }
    }

    private static final class OneWatch extends Publisher {
        OneWatch(BareDriver driver) {
            super(driver);
        }

        @Override
        void watch() {
            follow();
        }

        @Override
        long resync() {
            return NEVER;
        }
    }
}
