// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Keeps the slices as they should be: looks at them on an event of a watch, the hardware or the
 * clock, and repairs what differs. Waits ever longer after failures.
 */
class Publisher {

    private static final long LOOK = 200;
    private static final long RESYNC = 20_000;
    private static final long FIRST_BACKOFF = 500;
    private static final long LONGEST_BACKOFF = 4_000;

    final BareDriver driver = Parts.driver();
    final SlicePlan plan = driver.parts.make(SlicePlan.class);
    volatile boolean published;
    private volatile boolean stopped;
    private volatile boolean dirty = true;
    private long backoff = FIRST_BACKOFF;
    private List<String> seen = List.of();

    void start() {
        Pauses.daemon("publisher", this::run);
        Pauses.daemon("watch", this::watch);
    }

    void stop() {
        stopped = true;
    }

    private void run() {
        while (!stopped) {
            try {
                dirty = false;
                round();
                published = true;
                backoff = FIRST_BACKOFF;
                awaitWork();
            } catch (ApiClient.Failed e) {
                Life.current().log("Slices are not as they should be: " + e.getMessage());
                failed(e);
            }
        }
    }

    void failed(ApiClient.Failed problem) {
        Pauses.millis(Math.max(backoff, problem.retryAfter.toMillis()));
        backoff = Math.min(backoff * 2, LONGEST_BACKOFF);
    }

    void round() {
        plan.apply(existing());
    }

    List<JsonNode> existing() {
        return Json.list(driver.api
                .get(ApiClient.SLICES + "?fieldSelector=" + selector())
                .path("items"));
    }

    String selector() {
        return URLEncoder.encode(
                "spec.driver=" + driver.settings.driver() + ",spec.nodeName=" + driver.settings.node(),
                StandardCharsets.UTF_8);
    }

    void awaitWork() {
        long end = System.nanoTime() + resync() * 1_000_000;
        while (!stopped && !dirty && System.nanoTime() < end && !hardwareChanged()) {
            Pauses.millis(LOOK);
        }
    }

    long resync() {
        return RESYNC;
    }

    boolean hardwareChanged() {
        List<String> now = driver.inventory.faultLines();
        boolean changed = !now.equals(seen);
        seen = now;
        return changed;
    }

    void watch() {
        while (!stopped) {
            follow();
            dirty = true;
            Pauses.millis(1000);
        }
    }

    /** Follows one watch to its end. */
    void follow() {
        String path = ApiClient.SLICES + "?watch=true&allowWatchBookmarks=true&fieldSelector=" + selector();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(driver.api.open(path), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                dirty |= !line.contains("\"BOOKMARK\"");
                if (line.contains("\"type\":\"ERROR\"")) {
                    return;
                }
            }
        } catch (IOException e) {
            Life.current().log("The watch ended: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
