// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

import java.util.Objects;
import java.util.regex.Pattern;

/**
 * Identifies one {@code ResourceClaim}, as distinct from an earlier one of the same name.
 *
 * <p>Identity is the UID: a claim that was deleted and created again under its old name is another
 * claim. The parts are checked, so that a reference can be used in a file name or a URL as it is:
 * the namespace is a DNS label, the name a DNS subdomain, the UID letters, digits and dashes.
 *
 * @param namespace the claim's namespace, at most 63 characters
 * @param name the claim's name, at most 253 characters
 * @param uid the claim's {@code metadata.uid}, at most 63 characters
 * @see <a href="https://github.com/kubernetes/kubelet/blob/master/pkg/apis/dra/v1/api.proto">Claim
 *     in the kubelet's DRA API</a>
 */
public record ClaimRef(String namespace, String name, String uid) {

    private static final Pattern NAMESPACE = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final Pattern NAME =
            Pattern.compile("(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final Pattern UID = Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?");

    /**
     * Checks the parts.
     *
     * @throws IllegalArgumentException if a part is malformed; the message names the part
     */
    public ClaimRef {
        Objects.requireNonNull(namespace, "namespace");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(uid, "uid");
        require(NAMESPACE, namespace, "namespace");
        require(NAME, name, "name");
        require(UID, uid, "UID");
    }

    /**
     * Returns whether a string can be the UID of a claim.
     *
     * @param text any string
     * @return whether it has the form of a UID
     */
    public static boolean isUid(String text) {
        return UID.matcher(Objects.requireNonNull(text, "text")).matches();
    }

    private static void require(Pattern form, String value, String part) {
        if (!form.matcher(value).matches()) {
            throw new IllegalArgumentException("Not the " + part + " of a claim: " + Printable.of(value));
        }
    }

    /** Returns {@code namespace/name (UID uid)}, as messages show a claim. */
    @Override
    public String toString() {
        return namespace + "/" + name + " (UID " + uid + ")";
    }
}
