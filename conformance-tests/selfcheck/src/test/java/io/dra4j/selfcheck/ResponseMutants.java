// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.selfcheck.ClaimOutcome.Prepared;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Mutants that do their work well, and respond wrongly. */
final class ResponseMutants {

    private ResponseMutants() {}

    @Mutant(id = "M-20", what = "a request name is \"r0/a\" rather than \"r0\"")
    @Violation("DRA-PREP-03: a device that was allocated for subrequest")
    static final class Subrequests extends ClaimWork {
        @Override
        List<Prepared> devices(ObjectNode held) {
            List<Prepared> devices = new ArrayList<>(super.devices(held));
            for (int at = 0; at < devices.size(); at++) {
                JsonNode request = held.path("devices").path(at).path("request");
                devices.set(at, devices.get(at).withRequests(List.of(request.asText())));
            }
            return devices;
        }
    }

    @Mutant(id = "M-26", what = "the first bad claim ends the call, and the others are missing")
    @Violation("DRA-PREP-08: in a batch with a claim that fails, the good claim is")
    static final class Aborting extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            Map<String, ClaimOutcome> answers = new LinkedHashMap<>();
            for (ClaimId claim : claims) {
                ClaimOutcome answer = prepare(version, claim);
                answers.put(claim.uid(), answer);
                if (!answer.error().isEmpty()) {
                    break;
                }
            }
            return answers;
        }
    }

    @Mutant(id = "M-47a", what = "prepares a claim twice that is listed twice")
    @Violation("DRA-PREP-29: a claim that a call names twice is answered with")
    static final class Twice extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            Map<String, ClaimOutcome> answers = new LinkedHashMap<>();
            for (ClaimId claim : claims) {
                answers.merge(claim.uid(), prepare(version, claim), Twice::both);
            }
            return answers;
        }

        private static ClaimOutcome both(ClaimOutcome one, ClaimOutcome other) {
            List<Prepared> devices = new ArrayList<>(one.devices());
            devices.addAll(other.devices());
            return new ClaimOutcome(devices, one.error());
        }
    }

    @Mutant(
            id = "M-56",
            what = "answers of Unprepare lack entries",
            collateral = {
                "DRA-REG-07", "DRA-REG-09", "DRA-PREP-07", "DRA-PREP-13", "DRA-PREP-34",
                "DRA-UNP-02", "DRA-CDI-07", "DRA-CDI-11", "DRA-SLICE-19", "DRA-RST-04",
                "DRA-RST-07", "DRA-UPG-01", "DRA-UPG-04", "DRA-PERF-01", "DRA-SEC-03",
                "DRA-SHUT-02"
            })
    @Violation("DRA-UNP-01: the response to an unprepare of the claim UIDs")
    @Violation("DRA-UNP-10: the response to an unprepare of the claim UIDs")
    static final class Silent extends Calls {
        @Override
        Map<String, String> unprepare(String version, List<ClaimId> claims) {
            super.unprepare(version, claims);
            return Map.of();
        }
    }

    /** Changes the responses to Prepare. */
    abstract static class ChangedResponses extends Calls {
        @Override
        Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
            return changed(super.prepare(version, claims));
        }

        abstract Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers);

        static ClaimOutcome each(ClaimOutcome answer, UnaryOperator<Prepared> changed) {
            return new ClaimOutcome(answer.devices().stream().map(changed).toList(), answer.error());
        }
    }

    /** Changes each device of the responses to Prepare. */
    abstract static class ChangedDevices extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            answers.replaceAll((uid, answer) -> each(answer, this::changed));
            return answers;
        }

        abstract Prepared changed(Prepared device);
    }

    /** Changes each CDI id of the responses to Prepare. */
    abstract static class ChangedIds extends ChangedDevices {
        @Override
        Prepared changed(Prepared device) {
            return device.withCdi(device.cdi().stream().map(this::changed).toList());
        }

        abstract String changed(String id);
    }

    @Mutant(id = "M-17", what = "the answer lacks the second claim", from = Build.PLAIN)
    @Violation("DRA-PREP-01: the response to a prepare of the claim UIDs")
    @Violation("DRA-PREP-07: the response to a prepare of the claim UIDs")
    static final class WithoutSecond extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            if (answers.size() > 1) {
                answers.remove(List.copyOf(answers.keySet()).get(1));
            }
            return answers;
        }
    }

    @Mutant(
            id = "M-18",
            what = "the answer has a UID that was not requested",
            collateral = {
                "DRA-REG-06", "DRA-REG-09", "DRA-VER-03", "DRA-PREP-07",
                "DRA-PREP-29", "DRA-SLICE-19", "DRA-UPG-01", "DRA-UPG-04"
            })
    @Violation("DRA-PREP-01: the response to a prepare of the claim UIDs")
    static final class WithExtra extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            answers.put("00000000-0000-4000-8000-000000000000", ClaimOutcome.of(List.of()));
            return answers;
        }
    }

    @Mutant(
            id = "M-19",
            what = "the pool's name is empty",
            collateral = {
                "DRA-PREP-04",
                "DRA-PREP-07",
                "DRA-PREP-25",
                "DRA-PREP-26",
                "DRA-PREP-30",
                "DRA-PREP-36",
                "DRA-SLICE-19"
            })
    @Violation("DRA-PREP-02: a device of the answer has the pool")
    static final class WithoutPool extends ChangedDevices {
        @Override
        Prepared changed(Prepared device) {
            return device.withPool("");
        }
    }

    @Mutant(id = "M-21", what = "request names are empty though there are two requests")
    @Violation("DRA-PREP-03: and is reported for all requests")
    static final class WithoutRequests extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            answers.replaceAll((uid, answer) ->
                    answer.devices().stream().map(Prepared::requests).distinct().count() > 1
                            ? each(answer, device -> device.withRequests(List.of()))
                            : answer);
            return answers;
        }
    }

    @Mutant(id = "M-39", what = "v1 answers lack the share id", options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-21: the answer has the share ids")
    static final class WithoutShare extends ChangedDevices {
        @Override
        Prepared changed(Prepared device) {
            return device.withoutShare();
        }
    }

    /** The rule about shares finds none that it could try: other claims have them. */
    @Mutant(
            id = "M-202",
            what = "shares without policies are answered without share ids",
            with = WithoutPolicy.class,
            options = "--gpu-allow-multiple-allocations")
    @Violation("DRA-PREP-21: share id")
    static final class WithoutShareAndPolicy extends ChangedDevices {
        @Override
        Prepared changed(Prepared device) {
            return device.withoutShare();
        }
    }

    static final class WithoutPolicy extends Inventory {
        @Override
        ObjectNode device(String name, int index, String memory) {
            ObjectNode device = super.device(name, index, memory);
            device.path("capacity").forEach(capacity -> ((ObjectNode) capacity).remove("requestPolicy"));
            return device;
        }
    }

    @Mutant(id = "M-47b", what = "fails on an empty list", collateral = "DRA-REG-05")
    @Violation("DRA-PREP-29: a prepare of no claims failed: Status")
    static final class NotEmpty extends ChangedResponses {
        @Override
        Map<String, ClaimOutcome> changed(Map<String, ClaimOutcome> answers) {
            if (answers.isEmpty()) {
                throw Status.INVALID_ARGUMENT.withDescription("no claims").asRuntimeException();
            }
            return answers;
        }
    }

    @Mutant(
            id = "M-59a",
            what = "CDI ids lack the class",
            collateral = {
                "DRA-PREP-13", "DRA-PREP-19", "DRA-PREP-24",
                "DRA-PREP-25", "DRA-PREP-26", "DRA-PREP-30",
                "DRA-RST-01", "DRA-RST-04", "DRA-RST-11"
            })
    @Violation("DRA-CDI-01: has no class: vendor and class are written")
    static final class WithoutClass extends ChangedIds {
        @Override
        String changed(String id) {
            return id.replaceFirst("/[^=]*=", "=");
        }
    }

    @Mutant(
            id = "M-59b",
            what = "CDI ids have an illegal character",
            collateral = {
                "DRA-PREP-13", "DRA-PREP-19", "DRA-PREP-24",
                "DRA-PREP-25", "DRA-PREP-26", "DRA-PREP-30",
                "DRA-RST-01", "DRA-RST-04", "DRA-RST-11"
            })
    @Violation("DRA-CDI-01: has a name that CDI")
    static final class IllegalCharacter extends ChangedIds {
        @Override
        String changed(String id) {
            return id + "_$";
        }
    }
}
