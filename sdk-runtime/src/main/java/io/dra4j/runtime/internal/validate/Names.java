// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.validate;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The forms of names and texts in the API.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/overview/working-with-objects/names/">Object
 *     Names</a>
 * @see <a href="https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/">Labels,
 *     syntax and character set</a>
 * @see <a href="https://semver.org/spec/v2.0.0.html">Semantic Versioning 2.0.0</a>
 */
final class Names {

    private static final int MOST_TEXT = 64;

    private static final String LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
    private static final Pattern DNS_LABEL = Pattern.compile(LABEL);
    private static final Pattern DNS_SUBDOMAIN = Pattern.compile(LABEL + "(\\." + LABEL + ")*");
    private static final Pattern DOMAIN =
            Pattern.compile(DNS_SUBDOMAIN.pattern(), Pattern.CASE_INSENSITIVE);
    private static final Pattern LABEL_PART =
            Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?");
    private static final Pattern C_IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    private static final String NUMBER = "(0|[1-9][0-9]*)";
    private static final String PRE = "(" + NUMBER + "|[0-9]*[A-Za-z-][0-9A-Za-z-]*)";
    private static final String BUILD = "[0-9A-Za-z-]+";
    private static final Pattern SEMVER =
            Pattern.compile(
                    (NUMBER + "\\." + NUMBER + "\\." + NUMBER)
                            + ("(-" + PRE + "(\\." + PRE + ")*)?")
                            + ("(\\+" + BUILD + "(\\." + BUILD + ")*)?"));

    private Names() {}

    static void dnsLabel(Field field, @Nullable String name) {
        check(field, name, 63, DNS_LABEL, "must be a DNS label of at most 63 characters");
    }

    static void nodeName(Field field, @Nullable String name) {
        check(field, name, 253, DNS_SUBDOMAIN, "must be a DNS subdomain of at most 253 characters");
    }

    /** Checks the name of a label, a taint or a condition: {@code name} or {@code domain/name}. */
    static void labelName(Field field, @Nullable String name) {
        if (!field.requires(name)) {
            return;
        }
        int slash = name.indexOf('/');
        if (slash >= 0 && !matches(name.substring(0, slash), 253, DNS_SUBDOMAIN)) {
            field.refuse("must have a DNS subdomain of at most 253 characters before the /", name);
        }
        if (!matches(name.substring(slash + 1), 63, LABEL_PART)) {
            field.refuse(
                    "must be at most 63 letters, digits, '-', '_' or '.', with a letter or digit at"
                            + " both ends, after an optional domain and /",
                    name);
        }
    }

    static void labelValue(Field field, String value) {
        if (!value.isEmpty() && !matches(value, 63, LABEL_PART)) {
            field.refuse(
                    "must be at most 63 letters, digits, '-', '_' or '.', with a letter or digit at"
                            + " both ends",
                    value);
        }
    }

    /** Checks the name of an attribute or a capacity: {@code name} or {@code domain/name}. */
    static void qualifiedName(Field field, @Nullable String name) {
        if (!field.requires(name)) {
            return;
        }
        int slash = name.indexOf('/');
        if (slash >= 0 && !matches(name.substring(0, slash), 63, DOMAIN)) {
            field.refuse("must have a DNS subdomain of at most 63 characters before the /", name);
        }
        if (!matches(name.substring(slash + 1), 32, C_IDENTIFIER)) {
            field.refuse(
                    "must be a C identifier of at most 32 characters, after an optional domain and"
                            + " /",
                    name);
        }
    }

    static void text(Field field, @Nullable String text) {
        if (!field.requires(text)) {
            return;
        }
        if (!isUnicode(text)) {
            field.refuse("must be valid Unicode", text);
        } else if (text.getBytes(StandardCharsets.UTF_8).length > MOST_TEXT) {
            field.refuse("must be at most " + MOST_TEXT + " bytes", text);
        }
    }

    static void version(Field field, @Nullable String version) {
        check(
                field,
                version,
                MOST_TEXT,
                SEMVER,
                "must be a version by Semantic Versioning 2.0.0 of at most "
                        + MOST_TEXT
                        + " bytes");
    }

    private static void check(
            Field field, @Nullable String text, int most, Pattern form, String rule) {
        if (field.requires(text) && !matches(text, most, form)) {
            field.refuse(rule, text);
        }
    }

    /** Looks at the length first: no pattern is run over text of any length. */
    private static boolean matches(String text, int most, Pattern form) {
        return text.length() <= most && form.matcher(text).matches();
    }

    private static boolean isUnicode(String text) {
        try {
            StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }
}
