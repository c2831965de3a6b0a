// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import io.dra4j.nvidia.nvml.NvmlEvents.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs each error of a GPU once a minute, and counts the rest: a GPU may report thousands. Used by one thread. */
final class ErrorLog {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorLog.class);
    private static final Duration PERIOD = Duration.ofMinutes(1);

    /** The maximum number of different errors of a GPU that are logged in a period. */
    private static final int MOST = 10;

    private final Map<String, Period> periods = new HashMap<>(); // by GPU

    /** The errors of a GPU in a minute: the logged ones, and the number of others. */
    private static final class Period {
        private final Instant end;
        private final Set<Event.Xid> logged = new HashSet<>();
        private long omitted;

        Period(Instant end) {
            this.end = end;
        }
    }

    /**
     * Logs an error, unless the limit is reached.
     *
     * @param times how often it was reported
     */
    void log(Event.Xid event, XidError error, long times, Instant now) {
        Period period = periods.computeIfAbsent(event.gpu(), gpu -> new Period(now.plus(PERIOD)));
        if (period.logged.contains(event) || period.logged.size() == MOST) {
            period.omitted += times;
            return;
        }
        period.logged.add(event);
        period.omitted += times - 1;
        LOG.atWarn()
                .addKeyValue("gpu", event.gpu())
                .addKeyValue("xid", event.xid())
                .addKeyValue("instance", event.gpuInstance())
                .addKeyValue("effect", error.effect().apiName())
                .log(
                        error.isHarmless()
                                ? "GPU reported an error after which it keeps working"
                                : "GPU reported an error; its devices are tainted");
    }

    /** Logs how many errors were omitted in periods that have ended. */
    void endPeriods(Instant now) {
        periods.entrySet().removeIf(entry -> hasEnded(entry.getKey(), entry.getValue(), now));
    }

    private static boolean hasEnded(String gpu, Period period, Instant now) {
        if (now.isBefore(period.end) && !now.isBefore(period.end.minus(PERIOD))) {
            return false;
        }
        if (period.omitted > 0) {
            LOG.atWarn()
                    .addKeyValue("gpu", gpu)
                    .addKeyValue("errors", period.omitted)
                    .log("GPU reported more errors within a minute, which are not logged");
        }
        return true;
    }
}
