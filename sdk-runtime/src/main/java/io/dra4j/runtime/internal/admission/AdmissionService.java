// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.admission;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.runtime.internal.admission.Rule.ClaimRule;
import io.dra4j.runtime.internal.admission.Rule.PodRule;
import io.dra4j.runtime.internal.claim.allocation.ConfigCheck;
import io.dra4j.runtime.internal.http.HttpAnswer;
import io.dra4j.runtime.internal.http.HttpPages;
import io.dra4j.runtime.internal.http.Page;
import io.dra4j.runtime.internal.observe.LogField;
import io.dra4j.runtime.internal.tls.ServerCertificate;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The pages of a webhook: for reviews of claims and of pods, and for probes. */
public final class AdmissionService {

    private static final Logger LOG = LoggerFactory.getLogger(AdmissionService.class);
    private static final String CLAIMS = "/validate-resource-claim-parameters";
    private static final String PODS = "/validate-pods";
    private static final Page PROBE = (accept, body) -> HttpAnswer.text(200, "ok");

    /** A review has an object and the one before, of 3 MiB each at most, and little else. */
    private static final int LONGEST_REVIEW = 7 * 1024 * 1024;

    private AdmissionService() {}

    /**
     * Lets this process find no name of an address and no address of a name, which a server of
     * HTTPS alone needs: the JDK's asks for the name of each client, for seconds where no name
     * server answers. Has an effect before the first use of an address alone.
     */
    public static void lookUpNoNames() {
        System.getProperties().putIfAbsent("jdk.net.hosts.file", "/dev/null");
    }

    /**
     * Begins to answer.
     *
     * @param extendedResources the resources that pods must not request
     * @throws IOException if the address is in use, or not this machine's
     */
    public static HttpPages start(
            InetSocketAddress address,
            ServerCertificate certificate,
            String driver,
            List<ConfigType<?>> configTypes,
            Set<String> extendedResources)
            throws IOException {
        HttpPages pages = HttpPages.bind(address, certificate.context())
                .get("/readyz", PROBE)
                .get("/healthz", PROBE);
        ConfigCheck check = new ConfigCheck(driver, configTypes);
        pages.postJson(CLAIMS, LONGEST_REVIEW, new ReviewPage(new ClaimRule(check)));
        if (!extendedResources.isEmpty()) {
            pages.postJson(PODS, LONGEST_REVIEW, new ReviewPage(new PodRule(extendedResources)));
        }
        pages.start();
        LOG.atInfo().addKeyValue(LogField.ADDRESS, pages.address()).log("Serving admission reviews over HTTPS");
        return pages;
    }
}
