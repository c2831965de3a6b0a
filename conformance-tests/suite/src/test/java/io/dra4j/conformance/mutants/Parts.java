// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import java.nio.file.Path;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** How each part of the driver is made: the seams at which a fault puts one of its own. */
final class Parts {

    UnaryOperator<Settings> settings = settings -> settings;
    Function<Settings, BareDriver> driver = given -> new BareDriver(given, this);
    Function<Settings, ApiClient> api = ApiClient::new;
    Function<Settings, Inventory> inventory = Inventory::new;
    Function<Settings, StateFile> state = StateFile::new;
    Function<Settings, CdiSpecs> cdi = CdiSpecs::new;
    Function<Settings, Configs> configs = Configs::new;
    Supplier<CallCounters> counters = CallCounters::new;
    Function<Settings, Metadata> metadata = Metadata::new;
    Function<BareDriver, DeviceReports> reports = DeviceReports::new;
    Function<BareDriver, ClaimWork> work = ClaimWork::new;
    Function<BareDriver, Calls> calls = Calls::new;
    Function<BareDriver, Registration> registration = Registration::new;
    Function<BareDriver, HealthReports> health = HealthReports::new;
    Function<BareDriver, SlicePlan> plan = SlicePlan::new;
    Function<BareDriver, Publisher> publisher = Publisher::new;
    Function<Path, SocketServer> registrationSocket = SocketServer::new;
    Function<Path, SocketServer> serviceSocket = SocketServer::new;
}
