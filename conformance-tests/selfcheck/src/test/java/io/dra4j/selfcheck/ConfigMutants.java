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

    @Altered(id = "M-32")
    static final class Everybodys extends Configs {
        @Override
        boolean isOwn(JsonNode entry) {
            return true;
        }
    }

    /** A claim that is configured at all has the privileges of an administrator. */
    @Altered(id = "M-38")
    static final class Privileged extends ClaimWork {
        @Override
        boolean isPrivileged(JsonNode claim, JsonNode result) {
            return super.isPrivileged(claim, result)
                    || !driver.configs.applied(claim, result).isEmpty();
        }
    }

    @Altered(id = "M-41a")
    static final class ClassFirst extends Configs {
        @Override
        Comparator<JsonNode> order() {
            return super.order().reversed();
        }
    }

    @Altered(id = "M-41b")
    static final class FirstWins extends Configs {
        @Override
        List<JsonNode> applied(JsonNode claim, JsonNode result) {
            List<JsonNode> entries = new ArrayList<>(super.applied(claim, result));
            Collections.reverse(entries);
            entries.sort(order());
            return entries;
        }
    }

    @Altered(id = "M-42")
    static final class ForAll extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            return true;
        }
    }

    @Altered(id = "M-42b")
    static final class FirstTakesAll extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            return request.equals("r0") || super.applies(entry, request);
        }
    }

    @Altered(id = "M-43")
    static final class Exact extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            return requests.isEmpty() || requests.contains(request);
        }
    }

    @Altered(id = "M-44")
    static final class Siblings extends Configs {
        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            String base = request.split("/")[0];
            return requests.isEmpty() || requests.stream().anyMatch(each -> each.split("/")[0].equals(base));
        }
    }

    @Altered(id = "M-45")
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

    @Altered(id = "M-46")
    static final class Lenient extends Configs {
        @Override
        void fields(JsonNode object, String... known) {}
    }
}
