// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import io.dra4j.api.claim.ClaimRef;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Adjacent pieces of a journal that are not lines, and the claims that they name.
 *
 * <p>Each line names its claim twice, so that damage has to hit both places to hide it. Anything that looks like a
 * claim's UID in one of them counts as one: it is safer to hold one claim too many as damaged than one too few. Not
 * thread-safe.
 */
final class CorruptedLines {

    private static final String UID = "([A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?)";
    private static final Pattern START = Pattern.compile("\"claim\":\"" + UID + "\",\"record\":");
    private static final Pattern PUT = Pattern.compile("\"name\":\"[^\"]*\",\"uid\":\"" + UID + "\"}");
    private static final Pattern FORGET = Pattern.compile("\"forget\":\"" + UID + "\"}");
    private static final Pattern REF = Pattern.compile(
            "\"ref\":\\{\"namespace\":\"([-a-z0-9]+)\",\"name\":\"([-.a-z0-9]+)\",\"uid\":\"" + UID + "\"}");
    private static final String UNKNOWN = "unknown";

    private final Set<String> uids = new HashSet<>();
    private final Map<String, ClaimRef> refs = new HashMap<>();
    private int starts;
    private int ends;
    private int pieces;

    void add(byte[] piece) {
        String text = new String(piece, StandardCharsets.ISO_8859_1);
        pieces++;
        starts += find(START, text);
        ends += find(PUT, text) + find(FORGET, text);
        Matcher ref = REF.matcher(text);
        while (ref.find()) {
            keep(ref.group(1), ref.group(2), ref.group(3));
        }
    }

    private int find(Pattern pattern, String text) {
        int found = 0;
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            uids.add(matcher.group(1));
            found++;
        }
        return found;
    }

    private void keep(String namespace, String name, String uid) {
        try {
            refs.put(uid, new ClaimRef(namespace, name, uid));
        } catch (IllegalArgumentException e) {
            refs.remove(uid); // the damage is here
        }
    }

    Set<String> uids() {
        return uids;
    }

    /** Returns the number of lines that name a claim; a claim with two lines counts twice. */
    int named() {
        return Math.max(starts, ends);
    }

    int pieces() {
        return pieces;
    }

    /**
     * Returns the record of a claim that is held as damaged.
     *
     * <p>It may be from an earlier boot, and is treated as if from this one: a provider then cleans up what a reboot
     * might have left.
     */
    ClaimRecord damaged(String uid, @Nullable ClaimRecord before, String bootId) {
        ClaimRef ref = before != null ? before.ref() : refs.getOrDefault(uid, new ClaimRef(UNKNOWN, UNKNOWN, uid));
        return ClaimRecord.damaged(ref, bootId, before == null ? List.of() : before.devices());
    }
}
