// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Whose preparation is undone, and what is said of it. */
final class UnprepareFaults {

    private UnprepareFaults() {}

    static boolean install(String id, Parts parts) {
        switch (id) {
            case "M-37" -> parts.work = driver -> new TakesAlong(driver, false);
            case "M-40" -> parts.work = driver -> new TakesAlong(driver, true);
            case "M-48" -> parts.work = NeverAgain::new;
            case "M-52" -> parts.work = Exact::new;
            case "M-53" -> parts.work = Asking::new;
            case "M-54" -> parts.work = ByName::new;
            case "M-55" -> parts.work = AllAtOnce::new;
            case "M-58" -> parts.cdi = Hopeful::new;
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Undoes the other claims of the same device: those of other shares, or an admin's victims. */
    private static final class TakesAlong extends ClaimWork {
        private final boolean shares;

        TakesAlong(BareDriver driver, boolean shares) {
            super(driver);
            this.shares = shares;
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            for (JsonNode device : known.path("devices")) {
                boolean shared = !device.path("share").asText().isEmpty();
                if (shares == shared && !device.path("exclusive").asBoolean()) {
                    List.copyOf(held.values()).stream()
                            .filter(other -> other != known && has(other, device))
                            .map(other -> other.path("uid").asText())
                            .forEach(
                                    uid -> {
                                        release(uid);
                                        held.remove(uid);
                                    });
                }
            }
            super.forget(id, held, known);
        }

        private static boolean has(ObjectNode other, JsonNode device) {
            return Json.list(other.path("devices")).stream()
                    .anyMatch(each -> each.path("device").equals(device.path("device")));
        }
    }

    private static final class NeverAgain extends ClaimWork {
        private final Set<String> gone = ConcurrentHashMap.newKeySet();

        NeverAgain(BareDriver driver) {
            super(driver);
        }

        @Override
        void check(ClaimId id) {
            super.check(id);
            if (gone.contains(id.namespace() + "/" + id.name())) {
                throw new Refused("The claim was unprepared");
            }
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            super.forget(id, held, known);
            gone.add(id.namespace() + "/" + id.name());
        }
    }

    private static final class Exact extends ClaimWork {
        Exact(BareDriver driver) {
            super(driver);
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            if (known.isEmpty()) {
                throw new Refused("The claim is not prepared");
            }
            super.forget(id, held, known);
        }
    }

    private static final class Asking extends ClaimWork {
        Asking(BareDriver driver) {
            super(driver);
        }

        @Override
        void undo(ClaimId id) {
            if (id.isSane()) {
                checkUid(id, fetch(id));
            }
            super.undo(id);
        }
    }

    private static final class ByName extends ClaimWork {
        ByName(BareDriver driver) {
            super(driver);
        }

        @Override
        void forget(ClaimId id, Map<String, ObjectNode> held, ObjectNode known) {
            for (ObjectNode other : List.copyOf(held.values())) {
                if (other.path("name").asText().equals(id.name())
                        && other.path("namespace").asText().equals(id.namespace())) {
                    super.forget(
                            new ClaimId(id.namespace(), id.name(), other.path("uid").asText()),
                            held,
                            other);
                }
            }
        }
    }

    private static final class AllAtOnce extends ClaimWork {
        AllAtOnce(BareDriver driver) {
            super(driver);
        }

        @Override
        void release(String uid) {
            super.release(uid);
            driver.cdi.files().forEach(driver.cdi::remove);
        }
    }

    private static final class Hopeful extends CdiSpecs {
        Hopeful(Settings settings) {
            super(settings);
        }

        @Override
        void delete(String uid) {
            try {
                super.delete(uid);
            } catch (Refused e) {
                Life.current().say(e.getMessage());
            }
        }
    }
}
