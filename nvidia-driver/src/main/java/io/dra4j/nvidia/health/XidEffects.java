// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.api.device.Taint.Effect;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The effects of errors (XID): those that the administrator chose, and the defaults. */
public record XidEffects(Map<Long, Effect> chosen) {

    static final List<Long> OF_APPLICATIONS = List.of(13L, 31L, 43L, 45L, 68L, 109L);

    public static final XidEffects DEFAULT = new XidEffects(Map.of());

    private static final Logger LOG = LoggerFactory.getLogger(XidEffects.class);
    private static final String NUMBER = "0*[1-9][0-9]{0,8}";
    private static final String FORM = "XID=EFFECT";

    public XidEffects {
        chosen = Map.copyOf(chosen);
    }

    /**
     * Reads {@code 48=NoExecute,63=NoSchedule,94=None}; an empty text has no entries.
     *
     * @throws IllegalArgumentException with a message for the administrator
     */
    public static XidEffects parse(String text) {
        Map<Long, Effect> chosen = new TreeMap<>();
        if (!text.isBlank()) {
            for (String entry : text.split(",", -1)) {
                add(chosen, entry.strip());
            }
        }
        return new XidEffects(chosen);
    }

    private static void add(Map<Long, Effect> chosen, String entry) {
        String[] parts = entry.split("=", -1);
        if (parts.length != 2) {
            throw invalid(entry, "is not of the form " + FORM + ", such as 48=NoExecute");
        }
        if (!parts[0].strip().matches(NUMBER)) {
            throw invalid(entry, "does not begin with the number of an error, 1 or more");
        }
        long xid = Long.parseLong(parts[0].strip());
        Effect effect = effect(entry, parts[1].strip());
        if (chosen.putIfAbsent(xid, effect) != null) {
            throw invalid(entry, "repeats XID " + xid + "; each may have one effect");
        }
    }

    private static Effect effect(String entry, String name) {
        return Arrays.stream(Effect.values())
                .filter(effect -> effect.apiName().equals(name))
                .findFirst()
                .orElseThrow(() -> invalid(entry, "needs one of the effects " + names()));
    }

    private static String names() {
        return Arrays.stream(Effect.values()).map(Effect::apiName).collect(Collectors.joining(", "));
    }

    private static IllegalArgumentException invalid(String entry, String why) {
        return new IllegalArgumentException("entry \"%s\" %s".formatted(entry, why));
    }

    /** Adds errors that are only informational; as in NVIDIA's driver, a text that is not a number has no effect. */
    public XidEffects ignoring(Collection<String> ignored) {
        Map<Long, Effect> all = new TreeMap<>(chosen);
        for (String text : ignored.stream().map(String::strip).toList()) {
            if (!text.matches(NUMBER)) {
                LOG.atWarn()
                        .addKeyValue("value", text)
                        .log("An error to ignore is not the number of an error, and has no effect");
                continue;
            }
            long xid = Long.parseLong(text);
            Effect other = all.put(xid, Effect.NONE);
            if (other != null && other != Effect.NONE) {
                throw new IllegalArgumentException(
                        "XID %d is both ignored and given the effect %s; remove one of the two"
                                .formatted(xid, other.apiName()));
            }
        }
        return new XidEffects(all);
    }

    boolean isChosen(long xid) {
        return chosen.containsKey(xid);
    }

    /**
     * Returns the effect of an error.
     *
     * @param needsRecovery whether the driver asks for a recovery of the GPU; empty if it does not report that
     */
    public Effect of(long xid, Optional<Boolean> needsRecovery) {
        Effect choice = chosen.get(xid);
        if (choice != null) {
            return choice;
        }
        boolean isFatal = needsRecovery.orElse(!OF_APPLICATIONS.contains(xid));
        return isFatal ? Effect.NO_SCHEDULE : Effect.NONE;
    }
}
