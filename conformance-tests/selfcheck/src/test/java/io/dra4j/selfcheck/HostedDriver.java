// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.driver.Place;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The bare driver without processes: a tenth of the work, so that a suite of hundreds of starts can
 * be run for hundreds of drivers. What a process alone has, such as its open files, is not seen.
 */
record HostedDriver(List<String> arguments, Map<String, String> environment, Duration startTimeout)
        implements DriverAdapter {

    HostedDriver {
        arguments = List.copyOf(arguments);
        environment = Map.copyOf(environment);
    }

    @Override
    public Instance start(Place place, Map<String, String> more) {
        Map<String, String> all = new HashMap<>(place.values());
        environment.forEach((name, value) -> all.put(name, place.fill(value)));
        all.putAll(more);
        String[] filled = arguments.stream().map(place::fill).toArray(String[]::new);
        HostedLife life = new HostedLife(place.log());
        life.begin(() -> BareDriverMain.run(filled, all, life::onTerminate));
        return life;
    }
}
