// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** The server's rules for names, in its words. Each method returns the problems of a name, none for a good one. */
public final class Names {
    /** The maximum length of a driver's name in bytes. */
    public static final int DRIVER_LENGTH = 63;

    private static final String LABEL_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    private static final String SUBDOMAIN_FORM = LABEL_FORM + "(\\." + LABEL_FORM + ")*";
    private static final String QUALIFIED_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
    private static final String IDENTIFIER_FORM = "[A-Za-z_][A-Za-z0-9_]*";

    private static final Pattern LABEL = Pattern.compile(LABEL_FORM);

    /** A pattern without recursion per part, so that text of any length fits the stack. */
    private static final Pattern SUBDOMAIN = Pattern.compile(SUBDOMAIN_FORM + "+");

    private static final Pattern QUALIFIED = Pattern.compile(QUALIFIED_FORM);
    private static final Pattern IDENTIFIER = Pattern.compile(IDENTIFIER_FORM);

    private static final String ENDS = ", and must start and end with an alphanumeric character (e.g. ";
    private static final String LABEL_RULE =
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'"
                    + ENDS
                    + "'my-name',  or '123-abc', "
                    + regex(LABEL_FORM);
    private static final String SUBDOMAIN_RULE =
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"
                    + ENDS
                    + "'example.com', "
                    + regex(SUBDOMAIN_FORM);
    private static final String CHARACTERS = "must consist of alphanumeric characters, '-', '_' or '.'" + ENDS;
    private static final String QUALIFIED_RULE =
            CHARACTERS + "'MyName',  or 'my.name',  or '123-abc', " + regex(QUALIFIED_FORM);
    private static final String SLASHES_RULE = "a valid label key "
            + QUALIFIED_RULE
            + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    private static final String VALUE_RULE = "a valid label must be an empty string or "
            + CHARACTERS.replace("must consist", "consist")
            + "'MyValue',  or 'my_value',  or '12345', "
            + regex("(" + QUALIFIED_FORM + ")?");
    private static final String IDENTIFIER_RULE =
            "a valid C identifier must start with alphabetic character or '_', followed by a string of"
                    + " alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', "
                    + regex(IDENTIFIER_FORM);

    private static final int LABEL_LENGTH = 63;
    private static final int SUBDOMAIN_LENGTH = 253;

    private Names() {}

    private static String regex(String form) {
        return "regex used for validation is '" + form + "')";
    }

    /** Returns the length in UTF-8, to which the limits apply. */
    static int bytes(String text) {
        boolean plain = text.chars().allMatch(c -> c < 0x80);
        return plain ? text.length() : text.getBytes(StandardCharsets.UTF_8).length;
    }

    public static List<String> dnsLabelProblems(String name) {
        if (LABEL.matcher(name).matches()) {
            return tooLong(name, LABEL_LENGTH, "characters");
        }
        List<String> problems = new ArrayList<>(tooLong(name, LABEL_LENGTH, "characters"));
        problems.add(SUBDOMAIN.matcher(name).matches() ? "must not contain dots" : LABEL_RULE);
        return problems;
    }

    public static List<String> dnsSubdomainProblems(String name) {
        return subdomainProblems(name, "characters");
    }

    /** Names of DeviceClasses are also subdomains, but their length is measured in bytes. */
    public static List<String> longNameProblems(String name) {
        return subdomainProblems(name, "bytes");
    }

    private static List<String> subdomainProblems(String name, String unit) {
        List<String> tooLong = tooLong(name, SUBDOMAIN_LENGTH, unit);
        return matched(name, SUBDOMAIN, SUBDOMAIN_RULE, tooLong);
    }

    /** Checks names of drivers and attribute domains, where upper case is tolerated. */
    public static List<String> driverProblems(String name) {
        return dnsSubdomainProblems(name.toLowerCase(Locale.ROOT));
    }

    public static List<String> cIdentifierProblems(String name) {
        return matched(name, IDENTIFIER, IDENTIFIER_RULE, List.of());
    }

    /** Checks the form of label keys: an optional DNS subdomain and a slash, then a name. */
    public static List<String> qualifiedNameProblems(String name) {
        int slash = name.indexOf('/');
        if (slash != name.lastIndexOf('/')) {
            return List.of(SLASHES_RULE);
        }
        List<String> problems = new ArrayList<>();
        if (slash == 0) {
            problems.add("prefix part must be non-empty");
        } else if (slash > 0) {
            subdomainProblems(name.substring(0, slash), "bytes")
                    .forEach(problem -> problems.add("prefix part " + problem));
        }
        String part = name.substring(slash + 1);
        List<String> ofPart = part.isEmpty() ? List.of("must be non-empty") : tooLong(part, LABEL_LENGTH, "bytes");
        matched(part, QUALIFIED, QUALIFIED_RULE, ofPart).forEach(problem -> problems.add("name part " + problem));
        return problems;
    }

    /** Checks only that a name can be a segment of a path. */
    public static List<String> pathSegmentProblems(String name) {
        if (name.equals(".") || name.equals("..")) {
            return List.of("may not be '" + name + "'");
        }
        List<String> problems = new ArrayList<>();
        for (String part : List.of("/", "%")) {
            if (name.contains(part)) {
                problems.add("may not contain '" + part + "'");
            }
        }
        return problems;
    }

    public static List<String> labelValueProblems(String value) {
        if (value.isEmpty()) {
            return List.of();
        }
        return matched(value, QUALIFIED, VALUE_RULE, tooLong(value, LABEL_LENGTH, "bytes"));
    }

    private static List<String> tooLong(String name, int limit, String unit) {
        return bytes(name) > limit ? List.of("must be no more than " + limit + " " + unit) : List.of();
    }

    private static List<String> matched(String name, Pattern form, String rule, List<String> others) {
        if (form.matcher(name).matches()) {
            return others;
        }
        List<String> problems = new ArrayList<>(others);
        problems.add(rule);
        return problems;
    }
}
