// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A query of a dashboard or an alert, in PromQL, reduced to its metrics and labels.
 *
 * <p>It is not a parser: it finds the driver's metrics by their prefix, the labels in their braces, and the labels of
 * {@code by}, {@code on} and the like, which have to be those of all metrics in the query.
 */
record PromQuery(String text) {

    private static final Pattern METRIC = Pattern.compile("(dra4j_[a-z_]+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("([a-zA-Z_]+)\\s*(?:=~|!~|!=|=)\\s*\"");
    private static final Pattern GROUPING =
            Pattern.compile("\\b(by|on|without|ignoring|group_left|group_right)\\s*\\(([^)]*)\\)");
    private static final Pattern VALUES_OF = Pattern.compile("label_values\\((.*), (\\w+)\\)");
    private static final Pattern MADE_LABEL = Pattern.compile("\"(\\w+)\",\\s*\"\\$\\d\"");
    private static final String BUCKET = "_bucket";

    /** Returns the names of the driver's metrics, without the suffixes of histograms. */
    Set<String> metrics() {
        Set<String> names = new TreeSet<>();
        METRIC.matcher(text).results().forEach(one -> names.add(metric(one.group(1))));
        return names;
    }

    private static String metric(String name) {
        return name.replaceAll("_(bucket|count)$", "");
    }

    /**
     * Returns the metrics and labels of the query that a scrape does not have.
     *
     * @param served the labels of each metric that is served
     */
    List<String> problems(Map<String, Set<String>> served) {
        List<String> problems = new ArrayList<>();
        for (MatchResult one : METRIC.matcher(text).results().toList()) {
            Set<String> labels = served.get(metric(one.group(1)));
            if (labels == null) {
                problems.add("no metric " + one.group(1) + " is served");
            } else {
                Set<String> used = grouped(one.group(1).endsWith(BUCKET));
                used.addAll(matched(one.group(2)));
                used.removeAll(labels);
                used.forEach(label -> problems.add(one.group(1) + " has no label " + label));
            }
        }
        return problems;
    }

    private static Set<String> matched(String braces) {
        Set<String> labels = new TreeSet<>();
        if (braces != null) {
            MATCHER.matcher(braces).results().forEach(one -> labels.add(one.group(1)));
        }
        return labels;
    }

    /** A histogram's buckets have an additional label. */
    private Set<String> grouped(boolean ofBuckets) {
        Set<String> labels = new TreeSet<>();
        GROUPING.matcher(text)
                .results()
                .flatMap(one -> Arrays.stream(one.group(2).split(",")))
                .map(String::trim)
                .filter(label -> !label.isEmpty())
                .forEach(labels::add);
        Matcher values = VALUES_OF.matcher(text);
        if (values.matches()) {
            labels.add(values.group(2));
        }
        if (ofBuckets) {
            labels.remove("le");
        }
        MADE_LABEL.matcher(text).results().forEach(made -> labels.remove(made.group(1)));
        return labels;
    }

    /** Returns the labels of the query's result, for a legend or a message. */
    Set<String> resultLabels(Map<String, Set<String>> served) {
        Set<String> labels = grouped(true);
        if (labels.isEmpty()) {
            metrics().forEach(metric -> labels.addAll(served.getOrDefault(metric, Set.of())));
        }
        return labels;
    }
}
