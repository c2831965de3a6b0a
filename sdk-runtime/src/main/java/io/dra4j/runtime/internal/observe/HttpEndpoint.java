// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.observe;

import io.dra4j.runtime.internal.http.HttpPages;
import io.dra4j.runtime.internal.http.HttpPages.HttpAnswer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves metrics and probes over HTTP.
 *
 * <ul>
 *   <li>{@code /healthz}: 200 while the process can respond and has no reason for a restart;
 *       otherwise 503, and the body has the reason. It depends on nothing else, least of all the API server, whose
 *       outage must not restart drivers.
 *   <li>{@code /readyz}: 200 if nothing is missing; otherwise 503, and the body names what is. In
 *       either case it has notes for admins.
 *   <li>{@code /startupz}: 200 once the driver has started, and 503 before. The answer waits for
 *       a few seconds until the driver is ready, so that the readiness probe that follows succeeds.
 *   <li>The path of the metrics, in the formats of Prometheus.
 * </ul>
 */
public final class HttpEndpoint implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
    private static final String HEALTH = "/healthz";
    private static final String READINESS = "/readyz";
    private static final String START = "/startupz";

    /** More are refused: each may wait for a disk that stalls, and would keep a thread from the probes. */
    private static final int MOST_SCRAPES = 16;

    private final HttpPages pages;
    private final PrometheusScrape scrape;

    private HttpEndpoint(HttpPages pages, PrometheusScrape scrape) {
        this.pages = pages;
        this.scrape = scrape;
    }

    /**
     * The state that the probes report; each supplier is called on any thread, and all except the last return
     * immediately.
     *
     * @param restartReason why the process must be restarted; empty if it need not be
     * @param missing the conditions that the driver lacks to be ready, a line each
     * @param notes what an admin should know, even if the driver is ready, a line each
     * @param started whether it has started; may wait for seconds until it is ready
     */
    public record Probes(
            Supplier<Optional<String>> restartReason,
            Supplier<List<String>> missing,
            Supplier<List<String>> notes,
            BooleanSupplier started) {}

    /**
     * Starts serving.
     *
     * @param address where to listen; port 0 for any that is free
     * @throws IOException if the address is in use, or not this machine's
     */
    public static HttpEndpoint start(InetSocketAddress address, String metricsPath, Meters meters, Probes probes)
            throws IOException {
        HttpPages pages = HttpPages.bind(address);
        PrometheusScrape scrape = new PrometheusScrape(meters);
        Semaphore scrapes = new Semaphore(MOST_SCRAPES);
        pages.get(HEALTH, (accept, body) -> health(probes))
                .get(READINESS, (accept, body) -> readiness(probes))
                .get(START, (accept, body) -> start(probes))
                .get(metricsPath, (accept, body) -> metrics(scrape, scrapes, accept))
                .start();
        LOG.atInfo().addKeyValue(LogField.ADDRESS, pages.address()).log("Serving metrics and probes over HTTP");
        return new HttpEndpoint(pages, scrape);
    }

    public InetSocketAddress address() {
        return pages.address();
    }

    private static HttpAnswer health(Probes probes) {
        return probes.restartReason()
                .get()
                .map(reason -> HttpAnswer.text(503, "restart needed: " + reason))
                .orElseGet(() -> HttpAnswer.text(200, "ok"));
    }

    private static HttpAnswer readiness(Probes probes) {
        List<String> missing = probes.missing().get();
        List<String> lines = new ArrayList<>(List.of(missing.isEmpty() ? "ready" : "not ready"));
        lines.addAll(missing);
        lines.addAll(probes.notes().get());
        return HttpAnswer.text(missing.isEmpty() ? 200 : 503, String.join("\n", lines));
    }

    private static HttpAnswer start(Probes probes) {
        return probes.started().getAsBoolean()
                ? HttpAnswer.text(200, "started")
                : HttpAnswer.text(503, "still starting");
    }

    private static HttpAnswer metrics(PrometheusScrape scrape, Semaphore scrapes, String accept) throws IOException {
        if (!scrapes.tryAcquire()) {
            return HttpAnswer.text(503, MOST_SCRAPES + " requests for metrics have not ended; a disk may hang");
        }
        try {
            PrometheusScrape.Page page = scrape.page(accept);
            return HttpAnswer.of(200, page.type(), page.body());
        } finally {
            scrapes.release();
        }
    }

    /** Stops immediately: requests at the driver's end get no response. */
    @Override
    public void close() {
        pages.close();
        scrape.close();
    }
}
