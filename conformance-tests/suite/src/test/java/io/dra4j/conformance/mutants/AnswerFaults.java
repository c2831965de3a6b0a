// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.mutants.Answer.Prepared;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** What the kubelet hears of work that was done well. */
final class AnswerFaults {

    private AnswerFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-17" -> answers(parts, AnswerFaults::withoutSecond);
            case "M-18" -> answers(parts, AnswerFaults::withExtra);
            case "M-19" -> devices(parts, device -> device.withPool(""));
            case "M-20" -> parts.work = Subrequests::new;
            case "M-21" -> answers(parts, AnswerFaults::withoutRequests);
            case "M-26" -> parts.calls = Aborting::new;
            case "M-39" -> devices(parts, Prepared::withoutShare);
            case "M-47a" -> parts.calls = Twice::new;
            case "M-47b" -> answers(parts, AnswerFaults::notEmpty);
            case "M-56" -> parts.calls = Silent::new;
            case "M-59a" -> ids(parts, id1 -> id1.replaceFirst("/[^=]*=", "="));
            case "M-59b" -> ids(parts, id1 -> id1 + "_$");
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void answers(Parts parts, UnaryOperator<Map<String, Answer>> changed) {
        parts.calls =
                driver ->
                        new Calls(driver) {
                            @Override
                            Map<String, Answer> prepare(String version, List<ClaimId> claims) {
                                return changed.apply(super.prepare(version, claims));
                            }
                        };
    }

    private static void devices(Parts parts, UnaryOperator<Prepared> changed) {
        answers(
                parts,
                answers -> {
                    answers.replaceAll((uid, answer) -> each(answer, changed));
                    return answers;
                });
    }

    private static void ids(Parts parts, UnaryOperator<String> changed) {
        devices(parts, device -> device.withCdi(device.cdi().stream().map(changed).toList()));
    }

    private static Answer each(Answer answer, UnaryOperator<Prepared> changed) {
        return new Answer(answer.devices().stream().map(changed).toList(), answer.error());
    }

    private static Map<String, Answer> withoutSecond(Map<String, Answer> answers) {
        if (answers.size() > 1) {
            answers.remove(List.copyOf(answers.keySet()).get(1));
        }
        return answers;
    }

    private static Map<String, Answer> withExtra(Map<String, Answer> answers) {
        answers.put("00000000-0000-4000-8000-000000000000", Answer.of(List.of()));
        return answers;
    }

    private static Map<String, Answer> withoutRequests(Map<String, Answer> answers) {
        answers.replaceAll(
                (uid, answer) ->
                        answer.devices().stream().map(Prepared::requests).distinct().count() > 1
                                ? each(answer, device -> device.withRequests(List.of()))
                                : answer);
        return answers;
    }

    private static Map<String, Answer> notEmpty(Map<String, Answer> answers) {
        if (answers.isEmpty()) {
            throw Status.INVALID_ARGUMENT.withDescription("no claims").asRuntimeException();
        }
        return answers;
    }

    private static final class Subrequests extends ClaimWork {
        Subrequests(BareDriver driver) {
            super(driver);
        }

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

    private static final class Aborting extends Calls {
        Aborting(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, Answer> prepare(String version, List<ClaimId> claims) {
            Map<String, Answer> answers = new LinkedHashMap<>();
            for (ClaimId claim : claims) {
                Answer answer = prepare(version, claim);
                answers.put(claim.uid(), answer);
                if (!answer.error().isEmpty()) {
                    break;
                }
            }
            return answers;
        }
    }

    private static final class Twice extends Calls {
        Twice(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, Answer> prepare(String version, List<ClaimId> claims) {
            Map<String, Answer> answers = new LinkedHashMap<>();
            for (ClaimId claim : claims) {
                answers.merge(claim.uid(), prepare(version, claim), Twice::both);
            }
            return answers;
        }

        private static Answer both(Answer one, Answer other) {
            List<Prepared> devices = new ArrayList<>(one.devices());
            devices.addAll(other.devices());
            return new Answer(devices, one.error());
        }
    }

    private static final class Silent extends Calls {
        Silent(BareDriver driver) {
            super(driver);
        }

        @Override
        Map<String, String> unprepare(String version, List<ClaimId> claims) {
            super.unprepare(version, claims);
            return Map.of();
        }
    }
}
