// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneOffset;

/**
 * Reads times as the real server does: an hour may have one digit, and messages say which part of the text is wrong.
 */
final class Rfc3339 {
    private static final String LAYOUT = "2006-01-02T15:04:05Z07:00";

    private final String text;
    private String rest;
    private String problem = "";
    private LocalDateTime time = LocalDateTime.MIN;

    private Rfc3339(String text) {
        this.text = text;
        this.rest = text;
    }

    static Rfc3339 read(String text) {
        Rfc3339 reading = new Rfc3339(text);
        try {
            reading.read();
        } catch (Unreadable e) {
            reading.problem = "parsing time " + quoted(text) + e.getMessage();
        }
        return reading;
    }

    /** Says what is wrong; empty if nothing is. */
    String problem() {
        return problem;
    }

    /** The time in UTC without its fraction. */
    String seconds() {
        return time.toInstant(ZoneOffset.UTC).toString();
    }

    /** A part with a wrong form, or out of its range. */
    private static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;

        Unreadable(String message) {
            super(message);
        }
    }

    private void read() throws Unreadable {
        int year = year();
        literal("-");
        int month = number("01", true, 1, 12, "month");
        literal("-");
        int day = number("02", true, 0, 99, "day");
        literal("T");
        int hour = number("15", false, 0, 23, "hour");
        literal(":");
        int minute = number("04", true, 0, 59, "minute");
        literal(":");
        int second = number("05", true, 0, 59, "second");
        skipFraction();
        int offset = offset();
        if (!rest.isEmpty()) {
            throw new Unreadable(": extra text: " + quoted(rest));
        }
        if (day < 1 || day > YearMonth.of(year, month).lengthOfMonth()) {
            throw new Unreadable(": day out of range");
        }
        time = LocalDate.of(year, month, day).atTime(hour, minute, second).minusMinutes(offset);
    }

    private Unreadable unlike(String value, String element) {
        return new Unreadable(
                " as %s: cannot parse %s as %s".formatted(quoted(LAYOUT), quoted(value), quoted(element)));
    }

    private int year() throws Unreadable {
        if (!rest.matches("(?s)[0-9]{4}.*")) {
            throw unlike(rest, "2006");
        }
        return Year.of(Integer.parseInt(taken(4))).getValue();
    }

    private void literal(String wanted) throws Unreadable {
        if (!rest.startsWith(wanted)) {
            throw unlike(rest, wanted);
        }
        taken(1);
    }

    private int number(String element, boolean fixed, int least, int most, String name) throws Unreadable {
        if (!isDigit(0) || fixed && !isDigit(1)) {
            throw unlike(rest, element);
        }
        int number = Integer.parseInt(taken(isDigit(1) ? 2 : 1));
        if (number < least || number > most) {
            throw new Unreadable(": " + name + " out of range");
        }
        return number;
    }

    private void skipFraction() {
        boolean isPoint = rest.startsWith(".") || rest.startsWith(",");
        if (isPoint && isDigit(1)) {
            taken(1);
            while (isDigit(0)) {
                taken(1);
            }
        }
    }

    /** The minutes that the time is ahead of UTC. */
    private int offset() throws Unreadable {
        String zone = rest;
        if (zone.startsWith("Z")) {
            taken(1);
            return 0;
        }
        if (!zone.matches("(?s)[+-][0-9]{2}:[0-9]{2}.*")) {
            throw unlike(zone, "Z07:00");
        }
        int hours = Integer.parseInt(zone.substring(1, 3));
        int minutes = Integer.parseInt(zone.substring(4, 6));
        if (minutes > 60) {
            throw new Unreadable(": time zone offset minute out of range");
        }
        if (hours > 24) {
            throw new Unreadable(": time zone offset hour out of range");
        }
        taken(6);
        return (hours * 60 + minutes) * (zone.startsWith("-") ? -1 : 1);
    }

    private boolean isDigit(int at) {
        return rest.length() > at && rest.charAt(at) >= '0' && rest.charAt(at) <= '9';
    }

    private String taken(int length) {
        String taken = rest.substring(0, length);
        rest = rest.substring(length);
        return taken;
    }

    private static String quoted(String value) {
        StringBuilder quoted = new StringBuilder("\"");
        for (byte one : value.getBytes(StandardCharsets.UTF_8)) {
            if (one < ' ') {
                quoted.append("\\x%02x".formatted(one));
            } else {
                quoted.append(one == '"' || one == '\\' ? "\\" : "").append((char) one);
            }
        }
        return quoted.append('"').toString();
    }
}
