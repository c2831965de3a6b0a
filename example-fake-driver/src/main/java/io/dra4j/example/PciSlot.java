// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

/**
 * The PCI address of a fake card. The GPU and the NIC of the same number are below the same PCIe root, so that a claim
 * can ask for neighbours by {@code matchAttribute}.
 *
 * @param number the card's number among those of its kind
 * @param place the card's place below the root
 */
record PciSlot(int number, int place) {

    private static final int ROOTS_OF_A_DOMAIN = 64;
    private static final int BUSES_OF_A_ROOT = 4;

    static PciSlot ofGpu(int number) {
        return new PciSlot(number, 1);
    }

    static PciSlot ofNic(int number) {
        return new PciSlot(number, 2);
    }

    /** Returns the root as Linux writes it: {@code pci0000:04}. */
    String root() {
        return "pci%04x:%02x".formatted(domain(), rootBus());
    }

    /** Returns the card's own address: {@code 0000:05:00.0}. */
    String busId() {
        return "%04x:%02x:00.0".formatted(domain(), rootBus() + place);
    }

    private int domain() {
        return number / ROOTS_OF_A_DOMAIN;
    }

    private int rootBus() {
        return number % ROOTS_OF_A_DOMAIN * BUSES_OF_A_ROOT;
    }
}
