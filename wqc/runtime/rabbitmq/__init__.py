"""How RabbitMQ is reached, by whoever reads a queue of it."""
