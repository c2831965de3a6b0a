// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Locale;
import java.util.regex.Pattern;

/** The server's rules for names. Each method returns the problem, empty if there is none. */
public final class Names {
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
    private static final Pattern SUBDOMAIN =
            Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
    private static final Pattern QUALIFIED_PART =
            Pattern.compile("([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]");
    private static final Pattern C_IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private static final String LABEL_RULE =
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and"
                    + " end with an alphanumeric character";
    private static final String SUBDOMAIN_RULE =
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must"
                    + " start and end with an alphanumeric character";
    private static final String QUALIFIED_RULE =
            "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric"
                    + " character";

    private Names() {}

    public static String dnsLabelProblem(String name) {
        if (name.length() > 63) {
            return "must be no more than 63 bytes";
        }
        return LABEL.matcher(name).matches() ? "" : LABEL_RULE;
    }

    public static String dnsSubdomainProblem(String name) {
        if (name.length() > 253) {
            return "must be no more than 253 bytes";
        }
        return SUBDOMAIN.matcher(name).matches() ? "" : SUBDOMAIN_RULE;
    }

    /** Drivers and attribute domains: upper case is tolerated. */
    public static String driverProblem(String name) {
        return dnsSubdomainProblem(name.toLowerCase(Locale.ROOT));
    }

    public static String cIdentifierProblem(String name) {
        return C_IDENTIFIER.matcher(name).matches()
                ? ""
                : "a valid C identifier must start with alphabetic character or '_', followed by a string of"
                        + " alphanumeric characters or '_'";
    }

    /** An optional DNS subdomain and a slash, then a name: the form of label keys. */
    public static String qualifiedNameProblem(String name) {
        int slash = name.indexOf('/');
        if (slash >= 0) {
            String prefix = dnsSubdomainProblem(name.substring(0, slash));
            if (!prefix.isEmpty()) {
                return "prefix part " + prefix;
            }
        }
        String part = name.substring(slash + 1);
        if (part.isEmpty() || part.length() > 63) {
            return "name part must be non-empty and no more than 63 bytes";
        }
        return QUALIFIED_PART.matcher(part).matches() ? "" : "name part " + QUALIFIED_RULE;
    }

    public static String labelValueProblem(String value) {
        if (value.length() > 63) {
            return "must be no more than 63 bytes";
        }
        return value.isEmpty() || QUALIFIED_PART.matcher(value).matches()
                ? ""
                : "a valid label must be an empty string or " + QUALIFIED_RULE;
    }
}
