// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.device.Placement;
import io.dra4j.runtime.internal.observe.DriverEvent;
import io.dra4j.runtime.internal.observe.DriverEvent.Reason;
import io.dra4j.runtime.internal.observe.EventRecorder;
import io.dra4j.runtime.internal.observe.LogField;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the hardware that the provider leaves out: to the log, and to the event recorder.
 *
 * <p>Each device is logged once, and again when its reason changes. Used only on the loop's thread, except static
 * methods.
 */
final class LeftOutDevices {

    private static final Logger LOG = LoggerFactory.getLogger(LeftOutDevices.class);
    private static final String SUBJECT = "left-out devices";
    private static final int LONGEST_LIST = 800; // an Event's message has room for 1024 characters

    private final EventRecorder events;
    private List<LeftOut> last = List.of();

    LeftOutDevices(EventRecorder events) {
        this.events = events;
    }

    void read(Inventory inventory) {
        List<LeftOut> now = inventory.leftOut();
        now.stream().filter(one -> !last.contains(one)).forEach(LeftOutDevices::log);
        if (!now.isEmpty()) {
            events.record(new DriverEvent(Reason.DEVICES_LEFT_OUT, SUBJECT, message(inventory)));
        } else if (!last.isEmpty()) {
            String message = "The driver no longer leaves out any device";
            LOG.atInfo().log(message);
            events.record(new DriverEvent(Reason.PUBLISHING_RECOVERED, SUBJECT, message));
        }
        last = now;
    }

    private static void log(LeftOut one) {
        LOG.atWarn()
                .addKeyValue(LogField.DEVICE, one.device())
                .addKeyValue(LogField.REASON, one.reason())
                .log("The driver leaves a device out");
    }

    private static String message(Inventory inventory) {
        List<LeftOut> all = inventory.leftOut();
        String list = text(all.get(0));
        int named = 1;
        while (named < all.size() && (list + text(all.get(named))).length() < LONGEST_LIST) {
            list += "; " + text(all.get(named++));
        }
        int more = all.size() - named;
        return (isNoneOffered(inventory) ? "The driver offers no device; " : "")
                + (all.size() == 1 ? "1 device is" : all.size() + " devices are")
                + " left out: "
                + list
                + (more > 0 ? "; the driver's log names " + more + " more" : "");
    }

    /** On one line, regardless of the hardware library's text. */
    private static String text(LeftOut one) {
        return (one.device() + ": " + one.reason()).replaceAll("\\s+", " ");
    }

    /** Returns the hardware that an inventory leaves out, a line each. */
    static List<String> lines(Inventory inventory) {
        return inventory.leftOut().stream().map(one -> "left out: " + text(one)).toList();
    }

    /** Returns whether an inventory has no device because all of them are left out. */
    static boolean isNoneOffered(Inventory inventory) {
        return !inventory.leftOut().isEmpty()
                && inventory.pools().stream()
                        .noneMatch(pool ->
                                !pool.devices().isEmpty() || pool.placement() instanceof Placement.PublishedElsewhere);
    }
}
