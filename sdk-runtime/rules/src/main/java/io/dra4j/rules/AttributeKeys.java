// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

/**
 * Rules for the names of attributes and capacities, as keys and in references. A name is an identifier, optionally
 * after a domain and a slash.
 */
record AttributeKeys(KubernetesVersion version) {
    private static final int DOMAIN_LENGTH = 63;
    private static final int IDENTIFIER_LENGTH = 32;
    private static final int LENGTH = DOMAIN_LENGTH + 1 + IDENTIFIER_LENGTH;

    Field checked(Field map, String key) {
        Field value = map.key(key, LENGTH);
        check(key, version.atLeast(KubernetesVersion.V1_36) ? map : value);
        return value;
    }

    /**
     * Checks a name. Before 1.38, a name with several slashes is not checked (#141644, which came after 1.37.0).
     */
    void check(String name, Field reported) {
        checkParts(name, reported);
        boolean tooMany = name.indexOf('/') != name.lastIndexOf('/');
        if (tooMany && version.atLeast(KubernetesVersion.V1_38)) {
            reported.invalid(name, "must not contain more than one slash");
        }
    }

    /** Returns the rules for names that a slice already has: #141644 does not apply to them. */
    AttributeKeys asStored() {
        return version.atLeast(KubernetesVersion.V1_38) ? new AttributeKeys(KubernetesVersion.V1_37) : this;
    }

    /** Checks a name that is not checked before 1.38 (#141644), and returns whether it is valid. */
    boolean checkLate(String name, Field reported) {
        int before = reported.errors().count();
        if (version.atLeast(KubernetesVersion.V1_38)) {
            check(name, reported);
        }
        return reported.errors().count() == before;
    }

    private static void checkParts(String name, Field reported) {
        String[] parts = name.split("/", -1);
        if (parts.length == 1) {
            checkIdentifier(name, reported);
        } else if (parts.length == 2) {
            checkDomain(parts[0], reported);
            if (parts[1].isEmpty()) {
                reported.invalid("", "the name must not be empty");
            } else {
                checkIdentifier(parts[1], reported);
            }
        }
    }

    private static void checkDomain(String domain, Field reported) {
        if (domain.isEmpty()) {
            reported.invalid("", "the domain must not be empty");
        } else {
            reported.requireLength(domain, DOMAIN_LENGTH);
            reported.requireForm(domain, Names::driverProblems);
        }
    }

    private static void checkIdentifier(String identifier, Field reported) {
        reported.requireLength(identifier, IDENTIFIER_LENGTH);
        reported.requireForm(identifier, Names::cIdentifierProblems);
    }

    /** Requires a fully qualified name, and returns whether it is one. */
    boolean checkFullName(Field name) {
        int before = name.errors().count();
        check(name.text(), name);
        name.requireThat(
                name.text().contains("/"), "a fully qualified name must be a domain and a name separated by a slash");
        return name.errors().count() == before;
    }
}
