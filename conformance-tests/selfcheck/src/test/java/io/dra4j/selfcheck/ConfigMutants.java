// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Mutants that apply the wrong configuration, or read it wrongly. */
final class ConfigMutants {

    private ConfigMutants() {}

    @Mutant(id = "M-32", what = "decodes foreign config, and fails")
    @Violation("DRA-PREP-14: a claim with configs of other drivers was refused: claim UID")
    static final class Everybodys extends Configs {
        @Override
        boolean isOwn(JsonNode entry) {
            return true;
        }
    }

    /** A claim that is configured at all has the privileges of an administrator. */
    @Mutant(id = "M-38", what = "gives admin privileges because an opaque config asks for them")
    @Violation("DRA-PREP-20: gives a claim without admin access")
    static final class Privileged extends ClaimWork {
        @Override
        boolean isPrivileged(JsonNode claim, JsonNode result) {
            return super.isPrivileged(claim, result)
                    || !driver.configs.applied(claim, result).isEmpty();
        }
    }

    @Mutant(id = "M-41a", what = "class config beats claim config")
    @Violation("DRA-PREP-23: s config comes after the class")
    static final class ClassFirst extends Configs {
        @Override
        Comparator<JsonNode> order() {
            return super.order().reversed();
        }
    }

    @Mutant(id = "M-41b", what = "the first entry beats a later one")
    @Violation("DRA-PREP-23: although it is the later of two configs of the claim")
    static final class FirstWins extends Configs {
        @Override
        List<JsonNode> applied(JsonNode claim, JsonNode result) {
            List<JsonNode> entries = new ArrayList<>(super.applied(claim, result));
            Collections.reverse(entries);
            entries.sort(order());
            return entries;
        }
    }

    @Mutant(id = "M-42", what = "applies the config of one request to all", collateral = "DRA-PREP-26")
    @Violation("DRA-PREP-24: although its config is for request")
    static final class ForAll extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            return true;
        }
    }

    @Mutant(
            id = "M-42b",
            what = "gives the first request all configs, also those of others",
            collateral = "DRA-PREP-26")
    @Violation("DRA-PREP-24: although its config is for request r1 and the device for r0")
    static final class FirstTakesAll extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            return request.equals("r0") || super.applies(entry, request);
        }
    }

    @Mutant(id = "M-43", what = "compares the requests of a config literally, so that the main request never matches")
    @Violation("DRA-PREP-25: no edit of the device matches")
    static final class Exact extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            return requests.isEmpty() || requests.contains(request);
        }
    }

    @Mutant(id = "M-44", what = "applies config for r0/a to r0/b")
    @Violation("DRA-PREP-26: although its config is for subrequest")
    static final class Siblings extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            String base = request.split("/")[0];
            return requests.isEmpty() || requests.stream().anyMatch(each -> each.split("/")[0].equals(base));
        }
    }

    @Mutant(
            id = "M-45",
            what = "ignores its own invalid config, and uses the default",
            collateral = "DRA-PREP-25",
            from = Build.PLAIN)
    @Violation("DRA-PREP-27: was prepared, although its config is invalid by the")
    static final class Forgiving extends Configs {
        @Override
        Map<String, String> decode(JsonNode parameters) {
            try {
                return super.decode(parameters);
            } catch (Refused e) {
                return DEFAULT;
            }
        }
    }

    @Mutant(id = "M-46", what = "decodes unknown fields leniently")
    @Violation("DRA-PREP-28: was prepared, although its config has the unknown")
    static final class Lenient extends Configs {
        @Override
        void fields(JsonNode object, String... known) {}
    }
}
