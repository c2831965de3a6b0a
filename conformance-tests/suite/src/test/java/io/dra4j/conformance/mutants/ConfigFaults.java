// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Which configuration applies, and how it is read. */
final class ConfigFaults {

    private ConfigFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-32" -> parts.configs = Everybodys::new;
            case "M-38" -> parts.work = Privileged::new;
            case "M-41a" -> parts.configs = ClassFirst::new;
            case "M-41b" -> parts.configs = FirstWins::new;
            case "M-42" -> parts.configs = ForAll::new;
            case "M-43" -> parts.configs = Exact::new;
            case "M-44" -> parts.configs = Siblings::new;
            case "M-45" -> parts.configs = Forgiving::new;
            case "M-46" -> parts.configs = Lenient::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    private static final class Everybodys extends Configs {
        Everybodys(Settings settings) {
            super(settings);
        }

        @Override
        boolean isOwn(JsonNode entry) {
            return true;
        }
    }

    /** A claim that is configured at all has the privileges of an administrator. */
    private static final class Privileged extends ClaimWork {
        Privileged(BareDriver driver) {
            super(driver);
        }

        @Override
        boolean isPrivileged(JsonNode claim, JsonNode result) {
            return super.isPrivileged(claim, result)
                    || !driver.configs.applied(claim, result).isEmpty();
        }
    }

    private static final class ClassFirst extends Configs {
        ClassFirst(Settings settings) {
            super(settings);
        }

        @Override
        Comparator<JsonNode> order() {
            return super.order().reversed();
        }
    }

    private static final class FirstWins extends Configs {
        FirstWins(Settings settings) {
            super(settings);
        }

        @Override
        List<JsonNode> applied(JsonNode claim, JsonNode result) {
            List<JsonNode> entries = new ArrayList<>(super.applied(claim, result));
            Collections.reverse(entries);
            entries.sort(order());
            return entries;
        }
    }

    private static final class ForAll extends Configs {
        ForAll(Settings settings) {
            super(settings);
        }

        @Override
        boolean applies(JsonNode entry, String request) {
            return true;
        }
    }

    private static final class Exact extends Configs {
        Exact(Settings settings) {
            super(settings);
        }

        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            return requests.isEmpty() || requests.contains(request);
        }
    }

    private static final class Siblings extends Configs {
        Siblings(Settings settings) {
            super(settings);
        }

        @Override
        boolean applies(JsonNode entry, String request) {
            List<String> requests = Json.texts(entry.path("requests"));
            String base = request.split("/")[0];
            return requests.isEmpty()
                    || requests.stream().anyMatch(each -> each.split("/")[0].equals(base));
        }
    }

    private static final class Forgiving extends Configs {
        Forgiving(Settings settings) {
            super(settings);
        }

        @Override
        Map<String, String> decode(JsonNode parameters) {
            try {
                return super.decode(parameters);
            } catch (Refused e) {
                return DEFAULT;
            }
        }
    }

    private static final class Lenient extends Configs {
        Lenient(Settings settings) {
            super(settings);
        }

        @Override
        void fields(JsonNode object, String... known) {}
    }
}
