// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.claims;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.rules.ClaimLimits;
import io.dra4j.rules.Quantities;
import io.dra4j.testkit.settings.SettingsException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Gives devices to claims as a scheduler does: depth first, the first solution wins, requests,
 * alternatives and devices in their order. For one look at the published devices, and one thread.
 *
 * <p>A device goes to one claim, be it one that several may share: more claims of it are the rules'
 * own.
 */
public final class Allocator {

    private static final int MOST_STEPS = 1_000_000;

    private final List<Candidate> devices;
    private final Map<String, BigDecimal> counters;
    private final Set<String> taken = new HashSet<>();
    private final Map<RequestAlternative, List<Candidate>> matching = new IdentityHashMap<>();
    private int steps;

    /**
     * Sees what there is.
     *
     * @param devices the devices in the order in which a scheduler looks at them
     * @param counters what the counters of the pools have, by pool, set and name, with slashes
     */
    public Allocator(List<Candidate> devices, Map<String, BigDecimal> counters) {
        this.devices = List.copyOf(devices);
        this.counters = new HashMap<>(counters);
    }

    /**
     * Makes claims of these templates in turn, as many as there is room for.
     *
     * @throws SettingsException if an expression fails
     */
    public List<Allotment> allocate(ClaimTemplates templates) {
        List<Allotment> all = new ArrayList<>();
        int before;
        do {
            before = all.size();
            for (ClaimTemplate template : templates.all()) {
                allocate(template).ifPresent(all::add);
            }
        } while (all.size() > before);
        return all;
    }

    /**
     * Finds each template that no claim can be made of, with all devices free.
     *
     * @return a sentence for each
     */
    public List<String> complaints(ClaimTemplates templates) {
        List<String> complaints = new ArrayList<>();
        for (ClaimTemplate template : templates.all()) {
            Allocator alone = new Allocator(devices, counters);
            if (alone.allocate(template).isEmpty()) {
                complaints.add("%s gets no devices of the %d that are published: %s"
                        .formatted(template.title(), devices.size(), alone.found(template)));
            }
        }
        return complaints;
    }

    private String found(ClaimTemplate template) {
        List<String> found = new ArrayList<>();
        for (List<RequestAlternative> alternatives : template.requests()) {
            for (RequestAlternative alternative : alternatives) {
                found.add("request %s wants %s of class %s, and %d match"
                        .formatted(
                                alternative.name(),
                                alternative.all() ? "all devices" : alternative.count() + " device(s)",
                                alternative.deviceClass().name(),
                                matching(alternative).size()));
            }
        }
        if (!template.constraints().isEmpty()) {
            found.add("its constraints are " + template.devices().path("constraints"));
        }
        return String.join("; ", found);
    }

    private Optional<Allotment> allocate(ClaimTemplate template) {
        List<RequestAlternative.Pick> picks = new ArrayList<>();
        steps = 0;
        return isSolved(template, 0, picks) ? Optional.of(Allotment.of(template, picks)) : Optional.empty();
    }

    private boolean isSolved(ClaimTemplate template, int request, List<RequestAlternative.Pick> picks) {
        if (request == template.requests().size()) {
            return true;
        }
        for (RequestAlternative alternative : template.requests().get(request)) {
            boolean solved = alternative.all()
                    ? takesAll(template, request, alternative, picks)
                    : takes(template, request, alternative, alternative.count(), 0, picks);
            if (solved) {
                return true;
            }
        }
        return false;
    }

    /** All that match, or the request fails: also if one of them is taken or tainted. */
    private boolean takesAll(
            ClaimTemplate template, int request, RequestAlternative alternative, List<RequestAlternative.Pick> picks) {
        int before = picks.size();
        List<Candidate> all = matching(alternative);
        boolean fits = !all.isEmpty();
        for (Candidate device : all) {
            fits = fits && isTaken(template, alternative, device, picks);
        }
        if (fits && isSolved(template, request + 1, picks)) {
            return true;
        }
        while (picks.size() > before) {
            giveBack(picks);
        }
        return false;
    }

    private boolean takes(
            ClaimTemplate template,
            int request,
            RequestAlternative alternative,
            int count,
            int from,
            List<RequestAlternative.Pick> picks) {
        if (count == 0) {
            return isSolved(template, request + 1, picks);
        }
        List<Candidate> all = matching(alternative);
        for (int i = from; i < all.size(); i++) {
            if (isTaken(template, alternative, all.get(i), picks)) {
                if (takes(template, request, alternative, count - 1, i + 1, picks)) {
                    return true;
                }
                giveBack(picks);
            }
        }
        return false;
    }

    private List<Candidate> matching(RequestAlternative alternative) {
        return matching.computeIfAbsent(
                alternative, one -> devices.stream().filter(one::matches).toList());
    }

    /** Takes a device, if it is free and fits. */
    private boolean isTaken(
            ClaimTemplate template,
            RequestAlternative alternative,
            Candidate device,
            List<RequestAlternative.Pick> picks) {
        if (++steps > MOST_STEPS) {
            throw new SettingsException(
                    "driver.claims: %s was not allocated within %d steps: ask for fewer devices or constraints"
                            .formatted(template.title(), MOST_STEPS));
        }
        boolean fits = picks.size() < ClaimLimits.RESULTS
                && !taken.contains(device.key())
                && device.json().path("bindingConditions").isEmpty()
                && alternative.tolerates(device)
                && hasCounters(device)
                && template.constraints().stream().allMatch(c -> c.allows(alternative.name(), device, picks));
        if (fits) {
            taken.add(device.key());
            consume(device, -1);
            picks.add(new RequestAlternative.Pick(alternative, device));
        }
        return fits;
    }

    private void giveBack(List<RequestAlternative.Pick> picks) {
        Candidate device = picks.remove(picks.size() - 1).device();
        taken.remove(device.key());
        consume(device, 1);
    }

    private boolean hasCounters(Candidate device) {
        return consumption(device).entrySet().stream()
                .allMatch(one ->
                        counters.getOrDefault(one.getKey(), BigDecimal.ZERO).compareTo(one.getValue()) >= 0);
    }

    private void consume(Candidate device, int sign) {
        consumption(device)
                .forEach((counter, amount) ->
                        counters.merge(counter, amount.multiply(BigDecimal.valueOf(sign)), BigDecimal::add));
    }

    private static Map<String, BigDecimal> consumption(Candidate device) {
        Map<String, BigDecimal> amounts = new HashMap<>();
        for (JsonNode set : device.json().path("consumesCounters")) {
            counters(device.pool() + "/" + set.path("counterSet").asText(), set)
                    .forEach((counter, amount) -> amounts.merge(counter, amount, BigDecimal::add));
        }
        return amounts;
    }

    /** The amounts of a counter set, or of a device's part of it, by the set and the name. */
    public static Map<String, BigDecimal> counters(String set, JsonNode json) {
        Map<String, BigDecimal> amounts = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> one : json.path("counters").properties()) {
            String amount = one.getValue().path("value").asText();
            amounts.put(set + "/" + one.getKey(), Quantities.exact(amount));
        }
        return amounts;
    }
}
