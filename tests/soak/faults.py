"""Every kind of fault by its name: a function of the soak, whose docstring says what it does."""

from tests.soak import clients, machine, network, radio, system

FAULTS = {
    each.__name__: each
    for each in (
        *(machine.kill, machine.restart, machine.freeze, machine.full_disk, machine.folder_gone),
        *(machine.few_files, machine.locked_history, machine.killed_child, machine.backup),
        *(network.dead_broker, network.slow_broker, network.delayed_network, network.cut_network),
        *(network.broken_hook, network.slow_hook, network.dead_database, network.slow_database),
        *(network.killed_second, network.lost_radio, system.clock_jump, system.slow_disk),
        *(system.failing_disk, system.read_only, system.little_memory, system.expired_certificate),
        *(system.page, radio.corrupted_messages, radio.not_finite, radio.huge_samples),
        *(radio.rate_change, radio.flapping_radio, clients.flood, clients.hostile_uploads),
        *(clients.hostile_bodies, clients.label_storm, clients.fit_storm, clients.model_swap),
        *(clients.stream_churn, clients.silent_readers, clients.idle_connections),
        *(clients.revoked_token, clients.recordings),
    )
}
